# shellcheck shell=bash
# Answers --help, and refuses options that a script does not have. Sourced by a script before it changes its folder:
#
#     source "$(dirname "$0")/lib/usage.sh"          # looks at all words of the command line
#     source "$(dirname "$0")/lib/usage.sh" "${1:-}" # at the first alone, where later words are a command with options of its own
#
# The comment at the top of the script is its help. A script has the options that this comment names after `usage:`. All other words that begin
# with `-` are refused, so nothing is ever written to a file or folder of such a name.

# Prints the comment at the top of the script.
usage() {
    local line
    while read -r line; do
        case $line in
        '#!'* | '# shellcheck '* | '# step: '*) ;;
        '#') echo ;;
        '# '*) echo "${line#'# '}" ;;
        *) break ;;
        esac
    done <"$0"
}

# wrong_usage WHY: says what is wrong with the command line, and how the script is called, and exits with 2
wrong_usage() {
    echo "${0##*/}: $1" >&2
    echo >&2
    usage >&2
    exit 2
}

for word in "$@"; do
    case $word in
    -h | --help)
        usage
        exit
        ;;
    -*)
        known=$(usage)
        known=${known#*usage:}
        [[ " ${known//[^a-zA-Z0-9-]/ } " == *" ${word%%=*} "* ]] || wrong_usage "$word: no such option"
        ;;
    esac
done
unset word known
