
# Bash takes `--target=prod` for three words where `=` separates words. They are made one for who completes them, and what comes
# back has only what stands behind the sign.
_pushplan_complete() {
    local words=() index=0 at last=-1 before=""
    for ((at = 0; at < ${#COMP_WORDS[@]}; at++)); do
        local word=${COMP_WORDS[at]}
        if ((last > 0)) && [[ $word == "=" && ${words[last]} == --* && ${words[last]} != *=* ]]; then
            words[last]+="="
        elif ((last > 0)) && [[ ${COMP_WORDS[at - 1]} == "=" && ${words[last]} == --*= ]]; then
            words[last]+=$word
        else
            words+=("$word")
            last=$((last + 1))
        fi
        if ((at == COMP_CWORD)); then
            index=$last
            # What stands behind the cursor is not typed yet.
            [[ ${words[last]} == --*=* && ${COMP_WORDS[at]} != --*=* ]] && before=${words[last]%%=*}=
        fi
    done
    local COMP_WORDS=("${words[@]}") COMP_CWORD=$index
    if [[ -z $before ]]; then
        _clap_complete_pushplan "$@"
        return
    fi
    local typed=$2
    [[ $typed == "=" ]] && typed=""
    _clap_complete_pushplan "$1" "$before$typed" "$3"
    if [[ -n ${COMPREPLY+set} ]]; then
        COMPREPLY=("${COMPREPLY[@]#"$before"}")
    fi
}
