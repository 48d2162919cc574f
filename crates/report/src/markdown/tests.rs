use super::*;
use crate::sample_reports;
use walwise_judge::durability::VerdictKind;
use walwise_judge::rules::Outcome;
use walwise_model::facts::catalog::target::RedundancyState;

#[test]
fn at_risk_report_as_markdown() {
    insta::assert_snapshot!(render(&sample_reports::at_risk()));
}

#[test]
fn document_has_all_steps_findings_and_sources() {
    for report in sample_reports::at_risk_and_free_disk() {
        let document = render(&report);
        let steps = report
            .plans
            .iter()
            .flat_map(|plan| plan.steps.iter().chain(&plan.options));
        for step in steps {
            assert!(
                document.contains(&escaped_text(&step.title)),
                "{}: {document}",
                step.title
            );
            for command in step
                .advice
                .apply
                .iter()
                .chain(&step.advice.verify)
                .chain(&step.advice.undo)
            {
                assert!(
                    document.contains(&format!("\n{command}\n")),
                    "{command}: {document}"
                );
            }
        }
        for finding in report
            .findings
            .iter()
            .filter(|finding| finding.outcome == Outcome::Applies)
        {
            let title = escaped_text(&finding.title);
            assert!(
                !finding.advice.is_empty() || document.contains(&title),
                "{title}: {document}"
            );
            assert!(
                document.contains(&format!("\n| `{}` | kernel: Documentation", finding.rule)),
                "{document}"
            );
        }
    }
}

#[test]
fn degraded_redundancy_is_in_every_format() {
    let mut report = sample_reports::at_risk();
    report.verdicts[0].standing = VerdictKind::Durable;
    report.verdicts[0].redundancy = RedundancyState::Degraded;
    report.verdicts[0].second_fault =
        "md0 (RAID1) lacks 1 of its 2 members: one more failure loses it.".to_owned();
    let document = render(&report);
    assert!(
        document.contains("## durable, but degraded: "),
        "{document}"
    );
    assert!(document.contains("one more failure loses it"), "{document}");
    let page = crate::text::render(&report);
    assert!(
        page.contains("DURABLE, but degraded: postgresql 15/main"),
        "{page}"
    );
    assert!(page.contains("one more failure loses it"), "{page}");
    let json = crate::json::render_report(&report);
    assert!(
        json.contains(r#""redundancy": "degraded""#) && json.contains(r#""second_fault": "md0"#)
    );
}

#[test]
fn hostile_names_add_no_markdown() {
    let evil = "x\n\n# head\n```\n| a | b |\n<img src=x> @all";
    let mut report = sample_reports::at_risk();
    let clean = render(&report).lines().count();
    report.host.name = evil.to_owned();
    report.host.os = evil.to_owned();
    report.warnings[0] = evil.into();
    for target in &mut report.targets {
        target.title = evil.to_owned();
    }
    for step in &mut report.plans[0].steps {
        step.title = evil.to_owned();
        step.result = Some(evil.to_owned());
    }
    for layer in &mut report.stacks[0].layers {
        layer.says = evil.to_owned();
    }
    let document = render(&report);
    assert_eq!(document.lines().count(), clean, "{document}");
    assert!(
        !document.lines().any(|line| line.starts_with("# head")),
        "{document}"
    );
    let fences = |text: &str| text.lines().filter(|line| line.starts_with("```")).count();
    assert_eq!(
        fences(&document),
        fences(&render(&sample_reports::at_risk())),
        "{document}"
    );
}
