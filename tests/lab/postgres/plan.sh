# The plan that walwise prints for an empty disk, word for word: its script, edited as it asks to be, with its line of fstab;
# then the settings that it prints for the cluster there.
make() {
    walwise check /dev/vda --format script >/tmp/plan || [ $? -le 5 ] || return 1
    sed -e 's/^I_HAVE_READ_THIS=no /I_HAVE_READ_THIS=yes /' -e 's/^I_COMPARED_THE_DISK=no /I_COMPARED_THE_DISK=yes /' \
        -e 's|^MOUNTPOINT= |MOUNTPOINT=/drill |' -e "s|^DATABASE= |DATABASE=${MAIN#/drill/} |" -e "s|^OWNER= |OWNER=postgres |" \
        -e '/>>\/etc\/fstab$/s/^# //' /tmp/plan >/tmp/edited
    sh /tmp/edited >/tmp/next || return 1
    cat /tmp/next
    umount /drill
    grep -v '^#' /tmp/plan | grep -E '^(mkfs|mount)' >>/tmp/told
    cat /etc/fstab >>/tmp/told
    sed 's/^/plan: /' /tmp/told >/dev/ttyS0
}
# The second boot has the fstab that the first one wrote.
open() {
    [ "$(word step)" = write ] || word fstab | tr '|' ' ' >/etc/fstab
    mount /drill
}
# The script makes the directory.
prepare() { [ "$(stat -c %U:%a $MAIN)" = postgres:700 ]; }
# By the command that the script names at its end.
settings() {
    asks=$(sed -n 's/^ *\(walwise check .* --format conf\)$/\1/p' /tmp/next)
    [ -n "$asks" ] || return 1
    sh -c "$asks" >/tmp/settings 2>>/tmp/log || [ $? -le 5 ] || return 1
    sed 's/^/plan: /' /tmp/settings >/dev/ttyS0
    cat /tmp/settings
}
