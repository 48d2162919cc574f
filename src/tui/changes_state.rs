use super::job::{ChangedFacts, ComparisonReference, ReferenceChoice, ReferenceComparison};
use super::widgets::text_field::TextField;

#[derive(Clone, Debug, Default)]
pub struct ChangesScreenState {
    pub saved: ComparisonState,
    pub upgrade: ComparisonState,
    pub moved: Option<ChangedFacts>,
}

#[derive(Clone, Debug, Default)]
pub struct ComparisonState {
    /// `None` for the newest saved report.
    pub chosen: Option<String>,
    /// Outcome of the comparison: `None` before it ends, an inner `None` if no report is saved.
    pub result: Option<Result<Option<Box<ReferenceComparison>>, String>>,
}

#[derive(Clone, Debug)]
pub struct ReferenceList {
    pub of: ComparisonReference,
    /// `None` until the worker has listed the choices.
    pub choices: Option<Result<Vec<ReferenceChoice>, String>>,
    pub filter: TextField,
    /// Index of the chosen entry among the filtered ones.
    pub chosen: usize,
}

impl ChangesScreenState {
    pub fn comparison_mut(&mut self, with: ComparisonReference) -> &mut ComparisonState {
        match with {
            ComparisonReference::SavedReport => &mut self.saved,
            ComparisonReference::Upgrade => &mut self.upgrade,
        }
    }
}

impl ReferenceList {
    pub fn matching_choices(&self) -> Vec<&ReferenceChoice> {
        let all = self.choices.iter().flatten().flatten();
        let fits = |choice: &&ReferenceChoice| {
            let text = format!("{} {}", choice.label, choice.text);
            self.filter.matches(&text)
        };
        all.filter(fits).collect()
    }

    /// The chosen entry or, if no distribution matches, the version that the user typed.
    pub fn chosen_reference_name(&self) -> Result<String, String> {
        let matching = self.matching_choices();
        let typed = self.filter.text().trim();
        match (matching.get(self.chosen), &self.choices, self.of) {
            (Some(choice), ..) => Ok(choice.name.clone()),
            (None, Some(Err(why)), _) => Err(why.clone()),
            (None, _, ComparisonReference::Upgrade) if !typed.is_empty() => Ok(typed.to_owned()),
            (None, None, _) => Err("the list is still loading".to_owned()),
            (None, Some(Ok(all)), ComparisonReference::SavedReport) if all.is_empty() => {
                Err("no saved report; press s to save one".to_owned())
            }
            (None, Some(Ok(_)), _) => Err("no matches".to_owned()),
        }
    }
}
