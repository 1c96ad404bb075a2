# Print an optspec for argparse to handle cmd's options that are independent of any subcommand.
function __fish_mfa_global_optspecs
    string join \n o/output= columns= no-header url= y/yes no-input q/quiet v/verbose color= no-pager retries= timeout-seconds= h/help V/version
end

function __fish_mfa_needs_command
    # Figure out if the current invocation already has a command.
    set -l cmd (commandline -opc)
    set -e cmd[1]
    argparse -s (__fish_mfa_global_optspecs) -- $cmd 2>/dev/null
    or return
    if set -q argv[1]
        # Also print the command, so this can be used to figure out what it is.
        echo $argv[1]
        return 1
    end
    return 0
end

function __fish_mfa_using_subcommand
    set -l cmd (__fish_mfa_needs_command)
    test -z "$cmd"
    and return 1
    contains -- $cmd[1] $argv
end

complete -c mfa -n "__fish_mfa_needs_command" -s o -l output -d 'table, wide, json, jsonl, yaml, csv, tsv or id [env: MFA_OUTPUT]' -r -f -a "table\t'Columns that fit the terminal'
wide\t'Every column, however wide'
json\t'The representation of the wire'
jsonl\t'One record a line, as it arrives'
yaml\t'The representation of the wire as YAML'
csv\t'Every column, separated by commas'
tsv\t'Every column, separated by tabs'
id\t'Identifiers only'"
complete -c mfa -n "__fish_mfa_needs_command" -l columns -d 'Columns to show, in this order' -r
complete -c mfa -n "__fish_mfa_needs_command" -l url -d 'Address of the daemon [env: MFA_URL]' -r
complete -c mfa -n "__fish_mfa_needs_command" -l color -d 'auto, always or never [env: MFA_COLOR]' -r -f -a "auto\t'On a terminal'
always\t'Always'
never\t'Never'"
complete -c mfa -n "__fish_mfa_needs_command" -l retries -d 'How often a request is repeated that found no daemon or a fault of it [env: MFA_RETRIES]' -r
complete -c mfa -n "__fish_mfa_needs_command" -l timeout-seconds -d 'Longest wait for one answer [env: MFA_TIMEOUT_SECONDS]' -r
complete -c mfa -n "__fish_mfa_needs_command" -l no-header -d 'Leave out the line of column names'
complete -c mfa -n "__fish_mfa_needs_command" -s y -l yes -d 'Answer yes to every confirmation [env: MFA_YES]'
complete -c mfa -n "__fish_mfa_needs_command" -l no-input -d 'Never ask; fail instead [env: MFA_NO_INPUT]'
complete -c mfa -n "__fish_mfa_needs_command" -s q -l quiet -d 'Say less [env: MFA_QUIET]'
complete -c mfa -n "__fish_mfa_needs_command" -s v -l verbose -d 'Say more'
complete -c mfa -n "__fish_mfa_needs_command" -l no-pager -d 'Never start a pager'
complete -c mfa -n "__fish_mfa_needs_command" -s h -l help -d 'Print help'
complete -c mfa -n "__fish_mfa_needs_command" -s V -l version -d 'Print version'
complete -c mfa -n "__fish_mfa_needs_command" -f -a "quickstart" -d 'Start a daemon with a small sample institution; once more changes nothing'
complete -c mfa -n "__fish_mfa_needs_command" -f -a "offices" -d 'Offices, their branches, addresses and external references'
complete -c mfa -n "__fish_mfa_needs_command" -f -a "office" -d 'Offices, their branches, addresses and external references'
complete -c mfa -n "__fish_mfa_needs_command" -f -a "customers" -d 'Customers and their lifecycle'
complete -c mfa -n "__fish_mfa_needs_command" -f -a "customer" -d 'Customers and their lifecycle'
complete -c mfa -n "__fish_mfa_needs_command" -f -a "status" -d 'Tell which daemon is spoken to, and whether it serves'
complete -c mfa -n "__fish_mfa_needs_command" -f -a "version" -d 'Tell the versions of client and daemon'
complete -c mfa -n "__fish_mfa_needs_command" -f -a "daemon" -d 'The daemon on this machine'
complete -c mfa -n "__fish_mfa_needs_command" -f -a "init" -d 'Make the store, if it is not there, without serving'
complete -c mfa -n "__fish_mfa_needs_command" -f -a "dev" -d 'Run a daemon for trying things out, whose data is gone when it ends'
complete -c mfa -n "__fish_mfa_needs_command" -f -a "config" -d 'Settings'
complete -c mfa -n "__fish_mfa_needs_command" -f -a "explain" -d 'Explain an error code, an object or a field'
complete -c mfa -n "__fish_mfa_needs_command" -f -a "help" -d 'Show the help of a topic (exit-codes, environment, output) or of a command'
complete -c mfa -n "__fish_mfa_needs_command" -f -a "completions" -d 'Print the script that completes commands in a shell'
complete -c mfa -n "__fish_mfa_needs_command" -f -a "commands" -d 'List every command with its endpoint, flags, examples and exit codes'
complete -c mfa -n "__fish_mfa_needs_command" -f -a "docs" -d 'Write the man pages and completions of the source tree'
complete -c mfa -n "__fish_mfa_using_subcommand quickstart" -s o -l output -d 'table, wide, json, jsonl, yaml, csv, tsv or id [env: MFA_OUTPUT]' -r -f -a "table\t'Columns that fit the terminal'
wide\t'Every column, however wide'
json\t'The representation of the wire'
jsonl\t'One record a line, as it arrives'
yaml\t'The representation of the wire as YAML'
csv\t'Every column, separated by commas'
tsv\t'Every column, separated by tabs'
id\t'Identifiers only'"
complete -c mfa -n "__fish_mfa_using_subcommand quickstart" -l columns -d 'Columns to show, in this order' -r
complete -c mfa -n "__fish_mfa_using_subcommand quickstart" -l url -d 'Address of the daemon [env: MFA_URL]' -r
complete -c mfa -n "__fish_mfa_using_subcommand quickstart" -l color -d 'auto, always or never [env: MFA_COLOR]' -r -f -a "auto\t'On a terminal'
always\t'Always'
never\t'Never'"
complete -c mfa -n "__fish_mfa_using_subcommand quickstart" -l retries -d 'How often a request is repeated that found no daemon or a fault of it [env: MFA_RETRIES]' -r
complete -c mfa -n "__fish_mfa_using_subcommand quickstart" -l timeout-seconds -d 'Longest wait for one answer [env: MFA_TIMEOUT_SECONDS]' -r
complete -c mfa -n "__fish_mfa_using_subcommand quickstart" -l data-dir -d 'Folder of the store [env: MFA_DATA_DIR]' -r
complete -c mfa -n "__fish_mfa_using_subcommand quickstart" -l listen -d 'Address to listen on [env: MFA_LISTEN]' -r
complete -c mfa -n "__fish_mfa_using_subcommand quickstart" -l no-header -d 'Leave out the line of column names'
complete -c mfa -n "__fish_mfa_using_subcommand quickstart" -s y -l yes -d 'Answer yes to every confirmation [env: MFA_YES]'
complete -c mfa -n "__fish_mfa_using_subcommand quickstart" -l no-input -d 'Never ask; fail instead [env: MFA_NO_INPUT]'
complete -c mfa -n "__fish_mfa_using_subcommand quickstart" -s q -l quiet -d 'Say less [env: MFA_QUIET]'
complete -c mfa -n "__fish_mfa_using_subcommand quickstart" -s v -l verbose -d 'Say more'
complete -c mfa -n "__fish_mfa_using_subcommand quickstart" -l no-pager -d 'Never start a pager'
complete -c mfa -n "__fish_mfa_using_subcommand quickstart" -l empty -d 'Without the sample institution'
complete -c mfa -n "__fish_mfa_using_subcommand quickstart" -s h -l help -d 'Print help'
complete -c mfa -n "__fish_mfa_using_subcommand offices; and not __fish_seen_subcommand_from list get create update delete branches add-branch address references reference" -s o -l output -d 'table, wide, json, jsonl, yaml, csv, tsv or id [env: MFA_OUTPUT]' -r -f -a "table\t'Columns that fit the terminal'
wide\t'Every column, however wide'
json\t'The representation of the wire'
jsonl\t'One record a line, as it arrives'
yaml\t'The representation of the wire as YAML'
csv\t'Every column, separated by commas'
tsv\t'Every column, separated by tabs'
id\t'Identifiers only'"
complete -c mfa -n "__fish_mfa_using_subcommand offices; and not __fish_seen_subcommand_from list get create update delete branches add-branch address references reference" -l columns -d 'Columns to show, in this order' -r
complete -c mfa -n "__fish_mfa_using_subcommand offices; and not __fish_seen_subcommand_from list get create update delete branches add-branch address references reference" -l url -d 'Address of the daemon [env: MFA_URL]' -r
complete -c mfa -n "__fish_mfa_using_subcommand offices; and not __fish_seen_subcommand_from list get create update delete branches add-branch address references reference" -l color -d 'auto, always or never [env: MFA_COLOR]' -r -f -a "auto\t'On a terminal'
always\t'Always'
never\t'Never'"
complete -c mfa -n "__fish_mfa_using_subcommand offices; and not __fish_seen_subcommand_from list get create update delete branches add-branch address references reference" -l retries -d 'How often a request is repeated that found no daemon or a fault of it [env: MFA_RETRIES]' -r
complete -c mfa -n "__fish_mfa_using_subcommand offices; and not __fish_seen_subcommand_from list get create update delete branches add-branch address references reference" -l timeout-seconds -d 'Longest wait for one answer [env: MFA_TIMEOUT_SECONDS]' -r
complete -c mfa -n "__fish_mfa_using_subcommand offices; and not __fish_seen_subcommand_from list get create update delete branches add-branch address references reference" -l no-header -d 'Leave out the line of column names'
complete -c mfa -n "__fish_mfa_using_subcommand offices; and not __fish_seen_subcommand_from list get create update delete branches add-branch address references reference" -s y -l yes -d 'Answer yes to every confirmation [env: MFA_YES]'
complete -c mfa -n "__fish_mfa_using_subcommand offices; and not __fish_seen_subcommand_from list get create update delete branches add-branch address references reference" -l no-input -d 'Never ask; fail instead [env: MFA_NO_INPUT]'
complete -c mfa -n "__fish_mfa_using_subcommand offices; and not __fish_seen_subcommand_from list get create update delete branches add-branch address references reference" -s q -l quiet -d 'Say less [env: MFA_QUIET]'
complete -c mfa -n "__fish_mfa_using_subcommand offices; and not __fish_seen_subcommand_from list get create update delete branches add-branch address references reference" -s v -l verbose -d 'Say more'
complete -c mfa -n "__fish_mfa_using_subcommand offices; and not __fish_seen_subcommand_from list get create update delete branches add-branch address references reference" -l no-pager -d 'Never start a pager'
complete -c mfa -n "__fish_mfa_using_subcommand offices; and not __fish_seen_subcommand_from list get create update delete branches add-branch address references reference" -s h -l help -d 'Print help'
complete -c mfa -n "__fish_mfa_using_subcommand offices; and not __fish_seen_subcommand_from list get create update delete branches add-branch address references reference" -f -a "list" -d 'List all offices, head offices and branches'
complete -c mfa -n "__fish_mfa_using_subcommand offices; and not __fish_seen_subcommand_from list get create update delete branches add-branch address references reference" -f -a "get" -d 'Read an office'
complete -c mfa -n "__fish_mfa_using_subcommand offices; and not __fish_seen_subcommand_from list get create update delete branches add-branch address references reference" -f -a "create" -d 'Create a head office, or a branch of the named parent'
complete -c mfa -n "__fish_mfa_using_subcommand offices; and not __fish_seen_subcommand_from list get create update delete branches add-branch address references reference" -f -a "update" -d 'Change the name, description or address of an office'
complete -c mfa -n "__fish_mfa_using_subcommand offices; and not __fish_seen_subcommand_from list get create update delete branches add-branch address references reference" -f -a "delete" -d 'Delete an office that nothing uses any more'
complete -c mfa -n "__fish_mfa_using_subcommand offices; and not __fish_seen_subcommand_from list get create update delete branches add-branch address references reference" -f -a "branches" -d 'List the direct branches of an office'
complete -c mfa -n "__fish_mfa_using_subcommand offices; and not __fish_seen_subcommand_from list get create update delete branches add-branch address references reference" -f -a "add-branch" -d 'Create a branch of an office'
complete -c mfa -n "__fish_mfa_using_subcommand offices; and not __fish_seen_subcommand_from list get create update delete branches add-branch address references reference" -f -a "address" -d 'The address of an office'
complete -c mfa -n "__fish_mfa_using_subcommand offices; and not __fish_seen_subcommand_from list get create update delete branches add-branch address references reference" -f -a "references" -d 'Marks of other systems that use an office'
complete -c mfa -n "__fish_mfa_using_subcommand offices; and not __fish_seen_subcommand_from list get create update delete branches add-branch address references reference" -f -a "reference" -d 'Marks of other systems that use an office'
complete -c mfa -n "__fish_mfa_using_subcommand offices; and __fish_seen_subcommand_from list" -s o -l output -d 'table, wide, json, jsonl, yaml, csv, tsv or id [env: MFA_OUTPUT]' -r -f -a "table\t'Columns that fit the terminal'
wide\t'Every column, however wide'
json\t'The representation of the wire'
jsonl\t'One record a line, as it arrives'
yaml\t'The representation of the wire as YAML'
csv\t'Every column, separated by commas'
tsv\t'Every column, separated by tabs'
id\t'Identifiers only'"
complete -c mfa -n "__fish_mfa_using_subcommand offices; and __fish_seen_subcommand_from list" -l columns -d 'Columns to show, in this order' -r
complete -c mfa -n "__fish_mfa_using_subcommand offices; and __fish_seen_subcommand_from list" -l url -d 'Address of the daemon [env: MFA_URL]' -r
complete -c mfa -n "__fish_mfa_using_subcommand offices; and __fish_seen_subcommand_from list" -l color -d 'auto, always or never [env: MFA_COLOR]' -r -f -a "auto\t'On a terminal'
always\t'Always'
never\t'Never'"
complete -c mfa -n "__fish_mfa_using_subcommand offices; and __fish_seen_subcommand_from list" -l retries -d 'How often a request is repeated that found no daemon or a fault of it [env: MFA_RETRIES]' -r
complete -c mfa -n "__fish_mfa_using_subcommand offices; and __fish_seen_subcommand_from list" -l timeout-seconds -d 'Longest wait for one answer [env: MFA_TIMEOUT_SECONDS]' -r
complete -c mfa -n "__fish_mfa_using_subcommand offices; and __fish_seen_subcommand_from list" -l term -d 'Only records that contain this text' -r
complete -c mfa -n "__fish_mfa_using_subcommand offices; and __fish_seen_subcommand_from list" -l sort -d 'Columns to sort by; a minus sign puts the highest first' -r
complete -c mfa -n "__fish_mfa_using_subcommand offices; and __fish_seen_subcommand_from list" -l limit -d 'Most records to list; 50 on a terminal, else all' -r
complete -c mfa -n "__fish_mfa_using_subcommand offices; and __fish_seen_subcommand_from list" -l no-header -d 'Leave out the line of column names'
complete -c mfa -n "__fish_mfa_using_subcommand offices; and __fish_seen_subcommand_from list" -s y -l yes -d 'Answer yes to every confirmation [env: MFA_YES]'
complete -c mfa -n "__fish_mfa_using_subcommand offices; and __fish_seen_subcommand_from list" -l no-input -d 'Never ask; fail instead [env: MFA_NO_INPUT]'
complete -c mfa -n "__fish_mfa_using_subcommand offices; and __fish_seen_subcommand_from list" -s q -l quiet -d 'Say less [env: MFA_QUIET]'
complete -c mfa -n "__fish_mfa_using_subcommand offices; and __fish_seen_subcommand_from list" -s v -l verbose -d 'Say more'
complete -c mfa -n "__fish_mfa_using_subcommand offices; and __fish_seen_subcommand_from list" -l no-pager -d 'Never start a pager'
complete -c mfa -n "__fish_mfa_using_subcommand offices; and __fish_seen_subcommand_from list" -l all -d 'List all records'
complete -c mfa -n "__fish_mfa_using_subcommand offices; and __fish_seen_subcommand_from list" -s h -l help -d 'Print help'
complete -c mfa -n "__fish_mfa_using_subcommand offices; and __fish_seen_subcommand_from get" -s o -l output -d 'table, wide, json, jsonl, yaml, csv, tsv or id [env: MFA_OUTPUT]' -r -f -a "table\t'Columns that fit the terminal'
wide\t'Every column, however wide'
json\t'The representation of the wire'
jsonl\t'One record a line, as it arrives'
yaml\t'The representation of the wire as YAML'
csv\t'Every column, separated by commas'
tsv\t'Every column, separated by tabs'
id\t'Identifiers only'"
complete -c mfa -n "__fish_mfa_using_subcommand offices; and __fish_seen_subcommand_from get" -l columns -d 'Columns to show, in this order' -r
complete -c mfa -n "__fish_mfa_using_subcommand offices; and __fish_seen_subcommand_from get" -l url -d 'Address of the daemon [env: MFA_URL]' -r
complete -c mfa -n "__fish_mfa_using_subcommand offices; and __fish_seen_subcommand_from get" -l color -d 'auto, always or never [env: MFA_COLOR]' -r -f -a "auto\t'On a terminal'
always\t'Always'
never\t'Never'"
complete -c mfa -n "__fish_mfa_using_subcommand offices; and __fish_seen_subcommand_from get" -l retries -d 'How often a request is repeated that found no daemon or a fault of it [env: MFA_RETRIES]' -r
complete -c mfa -n "__fish_mfa_using_subcommand offices; and __fish_seen_subcommand_from get" -l timeout-seconds -d 'Longest wait for one answer [env: MFA_TIMEOUT_SECONDS]' -r
complete -c mfa -n "__fish_mfa_using_subcommand offices; and __fish_seen_subcommand_from get" -l no-header -d 'Leave out the line of column names'
complete -c mfa -n "__fish_mfa_using_subcommand offices; and __fish_seen_subcommand_from get" -s y -l yes -d 'Answer yes to every confirmation [env: MFA_YES]'
complete -c mfa -n "__fish_mfa_using_subcommand offices; and __fish_seen_subcommand_from get" -l no-input -d 'Never ask; fail instead [env: MFA_NO_INPUT]'
complete -c mfa -n "__fish_mfa_using_subcommand offices; and __fish_seen_subcommand_from get" -s q -l quiet -d 'Say less [env: MFA_QUIET]'
complete -c mfa -n "__fish_mfa_using_subcommand offices; and __fish_seen_subcommand_from get" -s v -l verbose -d 'Say more'
complete -c mfa -n "__fish_mfa_using_subcommand offices; and __fish_seen_subcommand_from get" -l no-pager -d 'Never start a pager'
complete -c mfa -n "__fish_mfa_using_subcommand offices; and __fish_seen_subcommand_from get" -s h -l help -d 'Print help'
complete -c mfa -n "__fish_mfa_using_subcommand offices; and __fish_seen_subcommand_from create" -s o -l output -d 'table, wide, json, jsonl, yaml, csv, tsv or id [env: MFA_OUTPUT]' -r -f -a "table\t'Columns that fit the terminal'
wide\t'Every column, however wide'
json\t'The representation of the wire'
jsonl\t'One record a line, as it arrives'
yaml\t'The representation of the wire as YAML'
csv\t'Every column, separated by commas'
tsv\t'Every column, separated by tabs'
id\t'Identifiers only'"
complete -c mfa -n "__fish_mfa_using_subcommand offices; and __fish_seen_subcommand_from create" -l columns -d 'Columns to show, in this order' -r
complete -c mfa -n "__fish_mfa_using_subcommand offices; and __fish_seen_subcommand_from create" -l url -d 'Address of the daemon [env: MFA_URL]' -r
complete -c mfa -n "__fish_mfa_using_subcommand offices; and __fish_seen_subcommand_from create" -l color -d 'auto, always or never [env: MFA_COLOR]' -r -f -a "auto\t'On a terminal'
always\t'Always'
never\t'Never'"
complete -c mfa -n "__fish_mfa_using_subcommand offices; and __fish_seen_subcommand_from create" -l retries -d 'How often a request is repeated that found no daemon or a fault of it [env: MFA_RETRIES]' -r
complete -c mfa -n "__fish_mfa_using_subcommand offices; and __fish_seen_subcommand_from create" -l timeout-seconds -d 'Longest wait for one answer [env: MFA_TIMEOUT_SECONDS]' -r
complete -c mfa -n "__fish_mfa_using_subcommand offices; and __fish_seen_subcommand_from create" -l parent -d 'The office of which it is a branch' -r
complete -c mfa -n "__fish_mfa_using_subcommand offices; and __fish_seen_subcommand_from create" -l name -d 'Name' -r
complete -c mfa -n "__fish_mfa_using_subcommand offices; and __fish_seen_subcommand_from create" -l description -d 'Description; an empty text empties it' -r
complete -c mfa -n "__fish_mfa_using_subcommand offices; and __fish_seen_subcommand_from create" -l address -d 'Address, such as street=\'12 Market Road\',city=Accra,country-code=GH,country=Ghana' -r
complete -c mfa -n "__fish_mfa_using_subcommand offices; and __fish_seen_subcommand_from create" -l from -d 'Body of JSON or YAML, - for standard input; flags go before it' -r
complete -c mfa -n "__fish_mfa_using_subcommand offices; and __fish_seen_subcommand_from create" -l idempotency-key -d 'Key by which the daemon knows a repeated request; a new one by default' -r
complete -c mfa -n "__fish_mfa_using_subcommand offices; and __fish_seen_subcommand_from create" -l no-header -d 'Leave out the line of column names'
complete -c mfa -n "__fish_mfa_using_subcommand offices; and __fish_seen_subcommand_from create" -s y -l yes -d 'Answer yes to every confirmation [env: MFA_YES]'
complete -c mfa -n "__fish_mfa_using_subcommand offices; and __fish_seen_subcommand_from create" -l no-input -d 'Never ask; fail instead [env: MFA_NO_INPUT]'
complete -c mfa -n "__fish_mfa_using_subcommand offices; and __fish_seen_subcommand_from create" -s q -l quiet -d 'Say less [env: MFA_QUIET]'
complete -c mfa -n "__fish_mfa_using_subcommand offices; and __fish_seen_subcommand_from create" -s v -l verbose -d 'Say more'
complete -c mfa -n "__fish_mfa_using_subcommand offices; and __fish_seen_subcommand_from create" -l no-pager -d 'Never start a pager'
complete -c mfa -n "__fish_mfa_using_subcommand offices; and __fish_seen_subcommand_from create" -l no-read -d 'Do not read the record back and print it'
complete -c mfa -n "__fish_mfa_using_subcommand offices; and __fish_seen_subcommand_from create" -s h -l help -d 'Print help'
complete -c mfa -n "__fish_mfa_using_subcommand offices; and __fish_seen_subcommand_from update" -s o -l output -d 'table, wide, json, jsonl, yaml, csv, tsv or id [env: MFA_OUTPUT]' -r -f -a "table\t'Columns that fit the terminal'
wide\t'Every column, however wide'
json\t'The representation of the wire'
jsonl\t'One record a line, as it arrives'
yaml\t'The representation of the wire as YAML'
csv\t'Every column, separated by commas'
tsv\t'Every column, separated by tabs'
id\t'Identifiers only'"
complete -c mfa -n "__fish_mfa_using_subcommand offices; and __fish_seen_subcommand_from update" -l columns -d 'Columns to show, in this order' -r
complete -c mfa -n "__fish_mfa_using_subcommand offices; and __fish_seen_subcommand_from update" -l url -d 'Address of the daemon [env: MFA_URL]' -r
complete -c mfa -n "__fish_mfa_using_subcommand offices; and __fish_seen_subcommand_from update" -l color -d 'auto, always or never [env: MFA_COLOR]' -r -f -a "auto\t'On a terminal'
always\t'Always'
never\t'Never'"
complete -c mfa -n "__fish_mfa_using_subcommand offices; and __fish_seen_subcommand_from update" -l retries -d 'How often a request is repeated that found no daemon or a fault of it [env: MFA_RETRIES]' -r
complete -c mfa -n "__fish_mfa_using_subcommand offices; and __fish_seen_subcommand_from update" -l timeout-seconds -d 'Longest wait for one answer [env: MFA_TIMEOUT_SECONDS]' -r
complete -c mfa -n "__fish_mfa_using_subcommand offices; and __fish_seen_subcommand_from update" -l name -d 'Name' -r
complete -c mfa -n "__fish_mfa_using_subcommand offices; and __fish_seen_subcommand_from update" -l description -d 'Description; an empty text empties it' -r
complete -c mfa -n "__fish_mfa_using_subcommand offices; and __fish_seen_subcommand_from update" -l address -d 'Address, such as street=\'12 Market Road\',city=Accra,country-code=GH,country=Ghana' -r
complete -c mfa -n "__fish_mfa_using_subcommand offices; and __fish_seen_subcommand_from update" -l from -d 'Body of JSON or YAML, - for standard input; flags go before it' -r
complete -c mfa -n "__fish_mfa_using_subcommand offices; and __fish_seen_subcommand_from update" -l idempotency-key -d 'Key by which the daemon knows a repeated request; a new one by default' -r
complete -c mfa -n "__fish_mfa_using_subcommand offices; and __fish_seen_subcommand_from update" -l no-header -d 'Leave out the line of column names'
complete -c mfa -n "__fish_mfa_using_subcommand offices; and __fish_seen_subcommand_from update" -s y -l yes -d 'Answer yes to every confirmation [env: MFA_YES]'
complete -c mfa -n "__fish_mfa_using_subcommand offices; and __fish_seen_subcommand_from update" -l no-input -d 'Never ask; fail instead [env: MFA_NO_INPUT]'
complete -c mfa -n "__fish_mfa_using_subcommand offices; and __fish_seen_subcommand_from update" -s q -l quiet -d 'Say less [env: MFA_QUIET]'
complete -c mfa -n "__fish_mfa_using_subcommand offices; and __fish_seen_subcommand_from update" -s v -l verbose -d 'Say more'
complete -c mfa -n "__fish_mfa_using_subcommand offices; and __fish_seen_subcommand_from update" -l no-pager -d 'Never start a pager'
complete -c mfa -n "__fish_mfa_using_subcommand offices; and __fish_seen_subcommand_from update" -l no-read -d 'Do not read the record back and print it'
complete -c mfa -n "__fish_mfa_using_subcommand offices; and __fish_seen_subcommand_from update" -s h -l help -d 'Print help'
complete -c mfa -n "__fish_mfa_using_subcommand offices; and __fish_seen_subcommand_from delete" -s o -l output -d 'table, wide, json, jsonl, yaml, csv, tsv or id [env: MFA_OUTPUT]' -r -f -a "table\t'Columns that fit the terminal'
wide\t'Every column, however wide'
json\t'The representation of the wire'
jsonl\t'One record a line, as it arrives'
yaml\t'The representation of the wire as YAML'
csv\t'Every column, separated by commas'
tsv\t'Every column, separated by tabs'
id\t'Identifiers only'"
complete -c mfa -n "__fish_mfa_using_subcommand offices; and __fish_seen_subcommand_from delete" -l columns -d 'Columns to show, in this order' -r
complete -c mfa -n "__fish_mfa_using_subcommand offices; and __fish_seen_subcommand_from delete" -l url -d 'Address of the daemon [env: MFA_URL]' -r
complete -c mfa -n "__fish_mfa_using_subcommand offices; and __fish_seen_subcommand_from delete" -l color -d 'auto, always or never [env: MFA_COLOR]' -r -f -a "auto\t'On a terminal'
always\t'Always'
never\t'Never'"
complete -c mfa -n "__fish_mfa_using_subcommand offices; and __fish_seen_subcommand_from delete" -l retries -d 'How often a request is repeated that found no daemon or a fault of it [env: MFA_RETRIES]' -r
complete -c mfa -n "__fish_mfa_using_subcommand offices; and __fish_seen_subcommand_from delete" -l timeout-seconds -d 'Longest wait for one answer [env: MFA_TIMEOUT_SECONDS]' -r
complete -c mfa -n "__fish_mfa_using_subcommand offices; and __fish_seen_subcommand_from delete" -l idempotency-key -d 'Key by which the daemon knows a repeated request; a new one by default' -r
complete -c mfa -n "__fish_mfa_using_subcommand offices; and __fish_seen_subcommand_from delete" -l no-header -d 'Leave out the line of column names'
complete -c mfa -n "__fish_mfa_using_subcommand offices; and __fish_seen_subcommand_from delete" -s y -l yes -d 'Answer yes to every confirmation [env: MFA_YES]'
complete -c mfa -n "__fish_mfa_using_subcommand offices; and __fish_seen_subcommand_from delete" -l no-input -d 'Never ask; fail instead [env: MFA_NO_INPUT]'
complete -c mfa -n "__fish_mfa_using_subcommand offices; and __fish_seen_subcommand_from delete" -s q -l quiet -d 'Say less [env: MFA_QUIET]'
complete -c mfa -n "__fish_mfa_using_subcommand offices; and __fish_seen_subcommand_from delete" -s v -l verbose -d 'Say more'
complete -c mfa -n "__fish_mfa_using_subcommand offices; and __fish_seen_subcommand_from delete" -l no-pager -d 'Never start a pager'
complete -c mfa -n "__fish_mfa_using_subcommand offices; and __fish_seen_subcommand_from delete" -l no-read -d 'Do not read the record back and print it'
complete -c mfa -n "__fish_mfa_using_subcommand offices; and __fish_seen_subcommand_from delete" -s h -l help -d 'Print help'
complete -c mfa -n "__fish_mfa_using_subcommand offices; and __fish_seen_subcommand_from branches" -s o -l output -d 'table, wide, json, jsonl, yaml, csv, tsv or id [env: MFA_OUTPUT]' -r -f -a "table\t'Columns that fit the terminal'
wide\t'Every column, however wide'
json\t'The representation of the wire'
jsonl\t'One record a line, as it arrives'
yaml\t'The representation of the wire as YAML'
csv\t'Every column, separated by commas'
tsv\t'Every column, separated by tabs'
id\t'Identifiers only'"
complete -c mfa -n "__fish_mfa_using_subcommand offices; and __fish_seen_subcommand_from branches" -l columns -d 'Columns to show, in this order' -r
complete -c mfa -n "__fish_mfa_using_subcommand offices; and __fish_seen_subcommand_from branches" -l url -d 'Address of the daemon [env: MFA_URL]' -r
complete -c mfa -n "__fish_mfa_using_subcommand offices; and __fish_seen_subcommand_from branches" -l color -d 'auto, always or never [env: MFA_COLOR]' -r -f -a "auto\t'On a terminal'
always\t'Always'
never\t'Never'"
complete -c mfa -n "__fish_mfa_using_subcommand offices; and __fish_seen_subcommand_from branches" -l retries -d 'How often a request is repeated that found no daemon or a fault of it [env: MFA_RETRIES]' -r
complete -c mfa -n "__fish_mfa_using_subcommand offices; and __fish_seen_subcommand_from branches" -l timeout-seconds -d 'Longest wait for one answer [env: MFA_TIMEOUT_SECONDS]' -r
complete -c mfa -n "__fish_mfa_using_subcommand offices; and __fish_seen_subcommand_from branches" -l term -d 'Only records that contain this text' -r
complete -c mfa -n "__fish_mfa_using_subcommand offices; and __fish_seen_subcommand_from branches" -l sort -d 'Columns to sort by; a minus sign puts the highest first' -r
complete -c mfa -n "__fish_mfa_using_subcommand offices; and __fish_seen_subcommand_from branches" -l limit -d 'Most records to list; 50 on a terminal, else all' -r
complete -c mfa -n "__fish_mfa_using_subcommand offices; and __fish_seen_subcommand_from branches" -l no-header -d 'Leave out the line of column names'
complete -c mfa -n "__fish_mfa_using_subcommand offices; and __fish_seen_subcommand_from branches" -s y -l yes -d 'Answer yes to every confirmation [env: MFA_YES]'
complete -c mfa -n "__fish_mfa_using_subcommand offices; and __fish_seen_subcommand_from branches" -l no-input -d 'Never ask; fail instead [env: MFA_NO_INPUT]'
complete -c mfa -n "__fish_mfa_using_subcommand offices; and __fish_seen_subcommand_from branches" -s q -l quiet -d 'Say less [env: MFA_QUIET]'
complete -c mfa -n "__fish_mfa_using_subcommand offices; and __fish_seen_subcommand_from branches" -s v -l verbose -d 'Say more'
complete -c mfa -n "__fish_mfa_using_subcommand offices; and __fish_seen_subcommand_from branches" -l no-pager -d 'Never start a pager'
complete -c mfa -n "__fish_mfa_using_subcommand offices; and __fish_seen_subcommand_from branches" -l all -d 'List all records'
complete -c mfa -n "__fish_mfa_using_subcommand offices; and __fish_seen_subcommand_from branches" -s h -l help -d 'Print help'
complete -c mfa -n "__fish_mfa_using_subcommand offices; and __fish_seen_subcommand_from add-branch" -s o -l output -d 'table, wide, json, jsonl, yaml, csv, tsv or id [env: MFA_OUTPUT]' -r -f -a "table\t'Columns that fit the terminal'
wide\t'Every column, however wide'
json\t'The representation of the wire'
jsonl\t'One record a line, as it arrives'
yaml\t'The representation of the wire as YAML'
csv\t'Every column, separated by commas'
tsv\t'Every column, separated by tabs'
id\t'Identifiers only'"
complete -c mfa -n "__fish_mfa_using_subcommand offices; and __fish_seen_subcommand_from add-branch" -l columns -d 'Columns to show, in this order' -r
complete -c mfa -n "__fish_mfa_using_subcommand offices; and __fish_seen_subcommand_from add-branch" -l url -d 'Address of the daemon [env: MFA_URL]' -r
complete -c mfa -n "__fish_mfa_using_subcommand offices; and __fish_seen_subcommand_from add-branch" -l color -d 'auto, always or never [env: MFA_COLOR]' -r -f -a "auto\t'On a terminal'
always\t'Always'
never\t'Never'"
complete -c mfa -n "__fish_mfa_using_subcommand offices; and __fish_seen_subcommand_from add-branch" -l retries -d 'How often a request is repeated that found no daemon or a fault of it [env: MFA_RETRIES]' -r
complete -c mfa -n "__fish_mfa_using_subcommand offices; and __fish_seen_subcommand_from add-branch" -l timeout-seconds -d 'Longest wait for one answer [env: MFA_TIMEOUT_SECONDS]' -r
complete -c mfa -n "__fish_mfa_using_subcommand offices; and __fish_seen_subcommand_from add-branch" -l name -d 'Name' -r
complete -c mfa -n "__fish_mfa_using_subcommand offices; and __fish_seen_subcommand_from add-branch" -l description -d 'Description; an empty text empties it' -r
complete -c mfa -n "__fish_mfa_using_subcommand offices; and __fish_seen_subcommand_from add-branch" -l address -d 'Address, such as street=\'12 Market Road\',city=Accra,country-code=GH,country=Ghana' -r
complete -c mfa -n "__fish_mfa_using_subcommand offices; and __fish_seen_subcommand_from add-branch" -l from -d 'Body of JSON or YAML, - for standard input; flags go before it' -r
complete -c mfa -n "__fish_mfa_using_subcommand offices; and __fish_seen_subcommand_from add-branch" -l idempotency-key -d 'Key by which the daemon knows a repeated request; a new one by default' -r
complete -c mfa -n "__fish_mfa_using_subcommand offices; and __fish_seen_subcommand_from add-branch" -l no-header -d 'Leave out the line of column names'
complete -c mfa -n "__fish_mfa_using_subcommand offices; and __fish_seen_subcommand_from add-branch" -s y -l yes -d 'Answer yes to every confirmation [env: MFA_YES]'
complete -c mfa -n "__fish_mfa_using_subcommand offices; and __fish_seen_subcommand_from add-branch" -l no-input -d 'Never ask; fail instead [env: MFA_NO_INPUT]'
complete -c mfa -n "__fish_mfa_using_subcommand offices; and __fish_seen_subcommand_from add-branch" -s q -l quiet -d 'Say less [env: MFA_QUIET]'
complete -c mfa -n "__fish_mfa_using_subcommand offices; and __fish_seen_subcommand_from add-branch" -s v -l verbose -d 'Say more'
complete -c mfa -n "__fish_mfa_using_subcommand offices; and __fish_seen_subcommand_from add-branch" -l no-pager -d 'Never start a pager'
complete -c mfa -n "__fish_mfa_using_subcommand offices; and __fish_seen_subcommand_from add-branch" -l no-read -d 'Do not read the record back and print it'
complete -c mfa -n "__fish_mfa_using_subcommand offices; and __fish_seen_subcommand_from add-branch" -s h -l help -d 'Print help'
complete -c mfa -n "__fish_mfa_using_subcommand offices; and __fish_seen_subcommand_from address" -s o -l output -d 'table, wide, json, jsonl, yaml, csv, tsv or id [env: MFA_OUTPUT]' -r -f -a "table\t'Columns that fit the terminal'
wide\t'Every column, however wide'
json\t'The representation of the wire'
jsonl\t'One record a line, as it arrives'
yaml\t'The representation of the wire as YAML'
csv\t'Every column, separated by commas'
tsv\t'Every column, separated by tabs'
id\t'Identifiers only'"
complete -c mfa -n "__fish_mfa_using_subcommand offices; and __fish_seen_subcommand_from address" -l columns -d 'Columns to show, in this order' -r
complete -c mfa -n "__fish_mfa_using_subcommand offices; and __fish_seen_subcommand_from address" -l url -d 'Address of the daemon [env: MFA_URL]' -r
complete -c mfa -n "__fish_mfa_using_subcommand offices; and __fish_seen_subcommand_from address" -l color -d 'auto, always or never [env: MFA_COLOR]' -r -f -a "auto\t'On a terminal'
always\t'Always'
never\t'Never'"
complete -c mfa -n "__fish_mfa_using_subcommand offices; and __fish_seen_subcommand_from address" -l retries -d 'How often a request is repeated that found no daemon or a fault of it [env: MFA_RETRIES]' -r
complete -c mfa -n "__fish_mfa_using_subcommand offices; and __fish_seen_subcommand_from address" -l timeout-seconds -d 'Longest wait for one answer [env: MFA_TIMEOUT_SECONDS]' -r
complete -c mfa -n "__fish_mfa_using_subcommand offices; and __fish_seen_subcommand_from address" -l no-header -d 'Leave out the line of column names'
complete -c mfa -n "__fish_mfa_using_subcommand offices; and __fish_seen_subcommand_from address" -s y -l yes -d 'Answer yes to every confirmation [env: MFA_YES]'
complete -c mfa -n "__fish_mfa_using_subcommand offices; and __fish_seen_subcommand_from address" -l no-input -d 'Never ask; fail instead [env: MFA_NO_INPUT]'
complete -c mfa -n "__fish_mfa_using_subcommand offices; and __fish_seen_subcommand_from address" -s q -l quiet -d 'Say less [env: MFA_QUIET]'
complete -c mfa -n "__fish_mfa_using_subcommand offices; and __fish_seen_subcommand_from address" -s v -l verbose -d 'Say more'
complete -c mfa -n "__fish_mfa_using_subcommand offices; and __fish_seen_subcommand_from address" -l no-pager -d 'Never start a pager'
complete -c mfa -n "__fish_mfa_using_subcommand offices; and __fish_seen_subcommand_from address" -s h -l help -d 'Print help'
complete -c mfa -n "__fish_mfa_using_subcommand offices; and __fish_seen_subcommand_from address" -f -a "set" -d 'Set the address of an office'
complete -c mfa -n "__fish_mfa_using_subcommand offices; and __fish_seen_subcommand_from address" -f -a "get" -d 'Read the address of an office'
complete -c mfa -n "__fish_mfa_using_subcommand offices; and __fish_seen_subcommand_from address" -f -a "delete" -d 'Remove the address of an office'
complete -c mfa -n "__fish_mfa_using_subcommand offices; and __fish_seen_subcommand_from references" -s o -l output -d 'table, wide, json, jsonl, yaml, csv, tsv or id [env: MFA_OUTPUT]' -r -f -a "table\t'Columns that fit the terminal'
wide\t'Every column, however wide'
json\t'The representation of the wire'
jsonl\t'One record a line, as it arrives'
yaml\t'The representation of the wire as YAML'
csv\t'Every column, separated by commas'
tsv\t'Every column, separated by tabs'
id\t'Identifiers only'"
complete -c mfa -n "__fish_mfa_using_subcommand offices; and __fish_seen_subcommand_from references" -l columns -d 'Columns to show, in this order' -r
complete -c mfa -n "__fish_mfa_using_subcommand offices; and __fish_seen_subcommand_from references" -l url -d 'Address of the daemon [env: MFA_URL]' -r
complete -c mfa -n "__fish_mfa_using_subcommand offices; and __fish_seen_subcommand_from references" -l color -d 'auto, always or never [env: MFA_COLOR]' -r -f -a "auto\t'On a terminal'
always\t'Always'
never\t'Never'"
complete -c mfa -n "__fish_mfa_using_subcommand offices; and __fish_seen_subcommand_from references" -l retries -d 'How often a request is repeated that found no daemon or a fault of it [env: MFA_RETRIES]' -r
complete -c mfa -n "__fish_mfa_using_subcommand offices; and __fish_seen_subcommand_from references" -l timeout-seconds -d 'Longest wait for one answer [env: MFA_TIMEOUT_SECONDS]' -r
complete -c mfa -n "__fish_mfa_using_subcommand offices; and __fish_seen_subcommand_from references" -l no-header -d 'Leave out the line of column names'
complete -c mfa -n "__fish_mfa_using_subcommand offices; and __fish_seen_subcommand_from references" -s y -l yes -d 'Answer yes to every confirmation [env: MFA_YES]'
complete -c mfa -n "__fish_mfa_using_subcommand offices; and __fish_seen_subcommand_from references" -l no-input -d 'Never ask; fail instead [env: MFA_NO_INPUT]'
complete -c mfa -n "__fish_mfa_using_subcommand offices; and __fish_seen_subcommand_from references" -s q -l quiet -d 'Say less [env: MFA_QUIET]'
complete -c mfa -n "__fish_mfa_using_subcommand offices; and __fish_seen_subcommand_from references" -s v -l verbose -d 'Say more'
complete -c mfa -n "__fish_mfa_using_subcommand offices; and __fish_seen_subcommand_from references" -l no-pager -d 'Never start a pager'
complete -c mfa -n "__fish_mfa_using_subcommand offices; and __fish_seen_subcommand_from references" -s h -l help -d 'Print help'
complete -c mfa -n "__fish_mfa_using_subcommand offices; and __fish_seen_subcommand_from references" -f -a "set" -d 'Add an external reference to an office, or set the state of the one of this type'
complete -c mfa -n "__fish_mfa_using_subcommand offices; and __fish_seen_subcommand_from references" -f -a "list" -d 'List the external references of an office'
complete -c mfa -n "__fish_mfa_using_subcommand offices; and __fish_seen_subcommand_from reference" -s o -l output -d 'table, wide, json, jsonl, yaml, csv, tsv or id [env: MFA_OUTPUT]' -r -f -a "table\t'Columns that fit the terminal'
wide\t'Every column, however wide'
json\t'The representation of the wire'
jsonl\t'One record a line, as it arrives'
yaml\t'The representation of the wire as YAML'
csv\t'Every column, separated by commas'
tsv\t'Every column, separated by tabs'
id\t'Identifiers only'"
complete -c mfa -n "__fish_mfa_using_subcommand offices; and __fish_seen_subcommand_from reference" -l columns -d 'Columns to show, in this order' -r
complete -c mfa -n "__fish_mfa_using_subcommand offices; and __fish_seen_subcommand_from reference" -l url -d 'Address of the daemon [env: MFA_URL]' -r
complete -c mfa -n "__fish_mfa_using_subcommand offices; and __fish_seen_subcommand_from reference" -l color -d 'auto, always or never [env: MFA_COLOR]' -r -f -a "auto\t'On a terminal'
always\t'Always'
never\t'Never'"
complete -c mfa -n "__fish_mfa_using_subcommand offices; and __fish_seen_subcommand_from reference" -l retries -d 'How often a request is repeated that found no daemon or a fault of it [env: MFA_RETRIES]' -r
complete -c mfa -n "__fish_mfa_using_subcommand offices; and __fish_seen_subcommand_from reference" -l timeout-seconds -d 'Longest wait for one answer [env: MFA_TIMEOUT_SECONDS]' -r
complete -c mfa -n "__fish_mfa_using_subcommand offices; and __fish_seen_subcommand_from reference" -l no-header -d 'Leave out the line of column names'
complete -c mfa -n "__fish_mfa_using_subcommand offices; and __fish_seen_subcommand_from reference" -s y -l yes -d 'Answer yes to every confirmation [env: MFA_YES]'
complete -c mfa -n "__fish_mfa_using_subcommand offices; and __fish_seen_subcommand_from reference" -l no-input -d 'Never ask; fail instead [env: MFA_NO_INPUT]'
complete -c mfa -n "__fish_mfa_using_subcommand offices; and __fish_seen_subcommand_from reference" -s q -l quiet -d 'Say less [env: MFA_QUIET]'
complete -c mfa -n "__fish_mfa_using_subcommand offices; and __fish_seen_subcommand_from reference" -s v -l verbose -d 'Say more'
complete -c mfa -n "__fish_mfa_using_subcommand offices; and __fish_seen_subcommand_from reference" -l no-pager -d 'Never start a pager'
complete -c mfa -n "__fish_mfa_using_subcommand offices; and __fish_seen_subcommand_from reference" -s h -l help -d 'Print help'
complete -c mfa -n "__fish_mfa_using_subcommand offices; and __fish_seen_subcommand_from reference" -f -a "set" -d 'Add an external reference to an office, or set the state of the one of this type'
complete -c mfa -n "__fish_mfa_using_subcommand offices; and __fish_seen_subcommand_from reference" -f -a "list" -d 'List the external references of an office'
complete -c mfa -n "__fish_mfa_using_subcommand office; and not __fish_seen_subcommand_from list get create update delete branches add-branch address references reference" -s o -l output -d 'table, wide, json, jsonl, yaml, csv, tsv or id [env: MFA_OUTPUT]' -r -f -a "table\t'Columns that fit the terminal'
wide\t'Every column, however wide'
json\t'The representation of the wire'
jsonl\t'One record a line, as it arrives'
yaml\t'The representation of the wire as YAML'
csv\t'Every column, separated by commas'
tsv\t'Every column, separated by tabs'
id\t'Identifiers only'"
complete -c mfa -n "__fish_mfa_using_subcommand office; and not __fish_seen_subcommand_from list get create update delete branches add-branch address references reference" -l columns -d 'Columns to show, in this order' -r
complete -c mfa -n "__fish_mfa_using_subcommand office; and not __fish_seen_subcommand_from list get create update delete branches add-branch address references reference" -l url -d 'Address of the daemon [env: MFA_URL]' -r
complete -c mfa -n "__fish_mfa_using_subcommand office; and not __fish_seen_subcommand_from list get create update delete branches add-branch address references reference" -l color -d 'auto, always or never [env: MFA_COLOR]' -r -f -a "auto\t'On a terminal'
always\t'Always'
never\t'Never'"
complete -c mfa -n "__fish_mfa_using_subcommand office; and not __fish_seen_subcommand_from list get create update delete branches add-branch address references reference" -l retries -d 'How often a request is repeated that found no daemon or a fault of it [env: MFA_RETRIES]' -r
complete -c mfa -n "__fish_mfa_using_subcommand office; and not __fish_seen_subcommand_from list get create update delete branches add-branch address references reference" -l timeout-seconds -d 'Longest wait for one answer [env: MFA_TIMEOUT_SECONDS]' -r
complete -c mfa -n "__fish_mfa_using_subcommand office; and not __fish_seen_subcommand_from list get create update delete branches add-branch address references reference" -l no-header -d 'Leave out the line of column names'
complete -c mfa -n "__fish_mfa_using_subcommand office; and not __fish_seen_subcommand_from list get create update delete branches add-branch address references reference" -s y -l yes -d 'Answer yes to every confirmation [env: MFA_YES]'
complete -c mfa -n "__fish_mfa_using_subcommand office; and not __fish_seen_subcommand_from list get create update delete branches add-branch address references reference" -l no-input -d 'Never ask; fail instead [env: MFA_NO_INPUT]'
complete -c mfa -n "__fish_mfa_using_subcommand office; and not __fish_seen_subcommand_from list get create update delete branches add-branch address references reference" -s q -l quiet -d 'Say less [env: MFA_QUIET]'
complete -c mfa -n "__fish_mfa_using_subcommand office; and not __fish_seen_subcommand_from list get create update delete branches add-branch address references reference" -s v -l verbose -d 'Say more'
complete -c mfa -n "__fish_mfa_using_subcommand office; and not __fish_seen_subcommand_from list get create update delete branches add-branch address references reference" -l no-pager -d 'Never start a pager'
complete -c mfa -n "__fish_mfa_using_subcommand office; and not __fish_seen_subcommand_from list get create update delete branches add-branch address references reference" -s h -l help -d 'Print help'
complete -c mfa -n "__fish_mfa_using_subcommand office; and not __fish_seen_subcommand_from list get create update delete branches add-branch address references reference" -f -a "list" -d 'List all offices, head offices and branches'
complete -c mfa -n "__fish_mfa_using_subcommand office; and not __fish_seen_subcommand_from list get create update delete branches add-branch address references reference" -f -a "get" -d 'Read an office'
complete -c mfa -n "__fish_mfa_using_subcommand office; and not __fish_seen_subcommand_from list get create update delete branches add-branch address references reference" -f -a "create" -d 'Create a head office, or a branch of the named parent'
complete -c mfa -n "__fish_mfa_using_subcommand office; and not __fish_seen_subcommand_from list get create update delete branches add-branch address references reference" -f -a "update" -d 'Change the name, description or address of an office'
complete -c mfa -n "__fish_mfa_using_subcommand office; and not __fish_seen_subcommand_from list get create update delete branches add-branch address references reference" -f -a "delete" -d 'Delete an office that nothing uses any more'
complete -c mfa -n "__fish_mfa_using_subcommand office; and not __fish_seen_subcommand_from list get create update delete branches add-branch address references reference" -f -a "branches" -d 'List the direct branches of an office'
complete -c mfa -n "__fish_mfa_using_subcommand office; and not __fish_seen_subcommand_from list get create update delete branches add-branch address references reference" -f -a "add-branch" -d 'Create a branch of an office'
complete -c mfa -n "__fish_mfa_using_subcommand office; and not __fish_seen_subcommand_from list get create update delete branches add-branch address references reference" -f -a "address" -d 'The address of an office'
complete -c mfa -n "__fish_mfa_using_subcommand office; and not __fish_seen_subcommand_from list get create update delete branches add-branch address references reference" -f -a "references" -d 'Marks of other systems that use an office'
complete -c mfa -n "__fish_mfa_using_subcommand office; and not __fish_seen_subcommand_from list get create update delete branches add-branch address references reference" -f -a "reference" -d 'Marks of other systems that use an office'
complete -c mfa -n "__fish_mfa_using_subcommand office; and __fish_seen_subcommand_from list" -s o -l output -d 'table, wide, json, jsonl, yaml, csv, tsv or id [env: MFA_OUTPUT]' -r -f -a "table\t'Columns that fit the terminal'
wide\t'Every column, however wide'
json\t'The representation of the wire'
jsonl\t'One record a line, as it arrives'
yaml\t'The representation of the wire as YAML'
csv\t'Every column, separated by commas'
tsv\t'Every column, separated by tabs'
id\t'Identifiers only'"
complete -c mfa -n "__fish_mfa_using_subcommand office; and __fish_seen_subcommand_from list" -l columns -d 'Columns to show, in this order' -r
complete -c mfa -n "__fish_mfa_using_subcommand office; and __fish_seen_subcommand_from list" -l url -d 'Address of the daemon [env: MFA_URL]' -r
complete -c mfa -n "__fish_mfa_using_subcommand office; and __fish_seen_subcommand_from list" -l color -d 'auto, always or never [env: MFA_COLOR]' -r -f -a "auto\t'On a terminal'
always\t'Always'
never\t'Never'"
complete -c mfa -n "__fish_mfa_using_subcommand office; and __fish_seen_subcommand_from list" -l retries -d 'How often a request is repeated that found no daemon or a fault of it [env: MFA_RETRIES]' -r
complete -c mfa -n "__fish_mfa_using_subcommand office; and __fish_seen_subcommand_from list" -l timeout-seconds -d 'Longest wait for one answer [env: MFA_TIMEOUT_SECONDS]' -r
complete -c mfa -n "__fish_mfa_using_subcommand office; and __fish_seen_subcommand_from list" -l term -d 'Only records that contain this text' -r
complete -c mfa -n "__fish_mfa_using_subcommand office; and __fish_seen_subcommand_from list" -l sort -d 'Columns to sort by; a minus sign puts the highest first' -r
complete -c mfa -n "__fish_mfa_using_subcommand office; and __fish_seen_subcommand_from list" -l limit -d 'Most records to list; 50 on a terminal, else all' -r
complete -c mfa -n "__fish_mfa_using_subcommand office; and __fish_seen_subcommand_from list" -l no-header -d 'Leave out the line of column names'
complete -c mfa -n "__fish_mfa_using_subcommand office; and __fish_seen_subcommand_from list" -s y -l yes -d 'Answer yes to every confirmation [env: MFA_YES]'
complete -c mfa -n "__fish_mfa_using_subcommand office; and __fish_seen_subcommand_from list" -l no-input -d 'Never ask; fail instead [env: MFA_NO_INPUT]'
complete -c mfa -n "__fish_mfa_using_subcommand office; and __fish_seen_subcommand_from list" -s q -l quiet -d 'Say less [env: MFA_QUIET]'
complete -c mfa -n "__fish_mfa_using_subcommand office; and __fish_seen_subcommand_from list" -s v -l verbose -d 'Say more'
complete -c mfa -n "__fish_mfa_using_subcommand office; and __fish_seen_subcommand_from list" -l no-pager -d 'Never start a pager'
complete -c mfa -n "__fish_mfa_using_subcommand office; and __fish_seen_subcommand_from list" -l all -d 'List all records'
complete -c mfa -n "__fish_mfa_using_subcommand office; and __fish_seen_subcommand_from list" -s h -l help -d 'Print help'
complete -c mfa -n "__fish_mfa_using_subcommand office; and __fish_seen_subcommand_from get" -s o -l output -d 'table, wide, json, jsonl, yaml, csv, tsv or id [env: MFA_OUTPUT]' -r -f -a "table\t'Columns that fit the terminal'
wide\t'Every column, however wide'
json\t'The representation of the wire'
jsonl\t'One record a line, as it arrives'
yaml\t'The representation of the wire as YAML'
csv\t'Every column, separated by commas'
tsv\t'Every column, separated by tabs'
id\t'Identifiers only'"
complete -c mfa -n "__fish_mfa_using_subcommand office; and __fish_seen_subcommand_from get" -l columns -d 'Columns to show, in this order' -r
complete -c mfa -n "__fish_mfa_using_subcommand office; and __fish_seen_subcommand_from get" -l url -d 'Address of the daemon [env: MFA_URL]' -r
complete -c mfa -n "__fish_mfa_using_subcommand office; and __fish_seen_subcommand_from get" -l color -d 'auto, always or never [env: MFA_COLOR]' -r -f -a "auto\t'On a terminal'
always\t'Always'
never\t'Never'"
complete -c mfa -n "__fish_mfa_using_subcommand office; and __fish_seen_subcommand_from get" -l retries -d 'How often a request is repeated that found no daemon or a fault of it [env: MFA_RETRIES]' -r
complete -c mfa -n "__fish_mfa_using_subcommand office; and __fish_seen_subcommand_from get" -l timeout-seconds -d 'Longest wait for one answer [env: MFA_TIMEOUT_SECONDS]' -r
complete -c mfa -n "__fish_mfa_using_subcommand office; and __fish_seen_subcommand_from get" -l no-header -d 'Leave out the line of column names'
complete -c mfa -n "__fish_mfa_using_subcommand office; and __fish_seen_subcommand_from get" -s y -l yes -d 'Answer yes to every confirmation [env: MFA_YES]'
complete -c mfa -n "__fish_mfa_using_subcommand office; and __fish_seen_subcommand_from get" -l no-input -d 'Never ask; fail instead [env: MFA_NO_INPUT]'
complete -c mfa -n "__fish_mfa_using_subcommand office; and __fish_seen_subcommand_from get" -s q -l quiet -d 'Say less [env: MFA_QUIET]'
complete -c mfa -n "__fish_mfa_using_subcommand office; and __fish_seen_subcommand_from get" -s v -l verbose -d 'Say more'
complete -c mfa -n "__fish_mfa_using_subcommand office; and __fish_seen_subcommand_from get" -l no-pager -d 'Never start a pager'
complete -c mfa -n "__fish_mfa_using_subcommand office; and __fish_seen_subcommand_from get" -s h -l help -d 'Print help'
complete -c mfa -n "__fish_mfa_using_subcommand office; and __fish_seen_subcommand_from create" -s o -l output -d 'table, wide, json, jsonl, yaml, csv, tsv or id [env: MFA_OUTPUT]' -r -f -a "table\t'Columns that fit the terminal'
wide\t'Every column, however wide'
json\t'The representation of the wire'
jsonl\t'One record a line, as it arrives'
yaml\t'The representation of the wire as YAML'
csv\t'Every column, separated by commas'
tsv\t'Every column, separated by tabs'
id\t'Identifiers only'"
complete -c mfa -n "__fish_mfa_using_subcommand office; and __fish_seen_subcommand_from create" -l columns -d 'Columns to show, in this order' -r
complete -c mfa -n "__fish_mfa_using_subcommand office; and __fish_seen_subcommand_from create" -l url -d 'Address of the daemon [env: MFA_URL]' -r
complete -c mfa -n "__fish_mfa_using_subcommand office; and __fish_seen_subcommand_from create" -l color -d 'auto, always or never [env: MFA_COLOR]' -r -f -a "auto\t'On a terminal'
always\t'Always'
never\t'Never'"
complete -c mfa -n "__fish_mfa_using_subcommand office; and __fish_seen_subcommand_from create" -l retries -d 'How often a request is repeated that found no daemon or a fault of it [env: MFA_RETRIES]' -r
complete -c mfa -n "__fish_mfa_using_subcommand office; and __fish_seen_subcommand_from create" -l timeout-seconds -d 'Longest wait for one answer [env: MFA_TIMEOUT_SECONDS]' -r
complete -c mfa -n "__fish_mfa_using_subcommand office; and __fish_seen_subcommand_from create" -l parent -d 'The office of which it is a branch' -r
complete -c mfa -n "__fish_mfa_using_subcommand office; and __fish_seen_subcommand_from create" -l name -d 'Name' -r
complete -c mfa -n "__fish_mfa_using_subcommand office; and __fish_seen_subcommand_from create" -l description -d 'Description; an empty text empties it' -r
complete -c mfa -n "__fish_mfa_using_subcommand office; and __fish_seen_subcommand_from create" -l address -d 'Address, such as street=\'12 Market Road\',city=Accra,country-code=GH,country=Ghana' -r
complete -c mfa -n "__fish_mfa_using_subcommand office; and __fish_seen_subcommand_from create" -l from -d 'Body of JSON or YAML, - for standard input; flags go before it' -r
complete -c mfa -n "__fish_mfa_using_subcommand office; and __fish_seen_subcommand_from create" -l idempotency-key -d 'Key by which the daemon knows a repeated request; a new one by default' -r
complete -c mfa -n "__fish_mfa_using_subcommand office; and __fish_seen_subcommand_from create" -l no-header -d 'Leave out the line of column names'
complete -c mfa -n "__fish_mfa_using_subcommand office; and __fish_seen_subcommand_from create" -s y -l yes -d 'Answer yes to every confirmation [env: MFA_YES]'
complete -c mfa -n "__fish_mfa_using_subcommand office; and __fish_seen_subcommand_from create" -l no-input -d 'Never ask; fail instead [env: MFA_NO_INPUT]'
complete -c mfa -n "__fish_mfa_using_subcommand office; and __fish_seen_subcommand_from create" -s q -l quiet -d 'Say less [env: MFA_QUIET]'
complete -c mfa -n "__fish_mfa_using_subcommand office; and __fish_seen_subcommand_from create" -s v -l verbose -d 'Say more'
complete -c mfa -n "__fish_mfa_using_subcommand office; and __fish_seen_subcommand_from create" -l no-pager -d 'Never start a pager'
complete -c mfa -n "__fish_mfa_using_subcommand office; and __fish_seen_subcommand_from create" -l no-read -d 'Do not read the record back and print it'
complete -c mfa -n "__fish_mfa_using_subcommand office; and __fish_seen_subcommand_from create" -s h -l help -d 'Print help'
complete -c mfa -n "__fish_mfa_using_subcommand office; and __fish_seen_subcommand_from update" -s o -l output -d 'table, wide, json, jsonl, yaml, csv, tsv or id [env: MFA_OUTPUT]' -r -f -a "table\t'Columns that fit the terminal'
wide\t'Every column, however wide'
json\t'The representation of the wire'
jsonl\t'One record a line, as it arrives'
yaml\t'The representation of the wire as YAML'
csv\t'Every column, separated by commas'
tsv\t'Every column, separated by tabs'
id\t'Identifiers only'"
complete -c mfa -n "__fish_mfa_using_subcommand office; and __fish_seen_subcommand_from update" -l columns -d 'Columns to show, in this order' -r
complete -c mfa -n "__fish_mfa_using_subcommand office; and __fish_seen_subcommand_from update" -l url -d 'Address of the daemon [env: MFA_URL]' -r
complete -c mfa -n "__fish_mfa_using_subcommand office; and __fish_seen_subcommand_from update" -l color -d 'auto, always or never [env: MFA_COLOR]' -r -f -a "auto\t'On a terminal'
always\t'Always'
never\t'Never'"
complete -c mfa -n "__fish_mfa_using_subcommand office; and __fish_seen_subcommand_from update" -l retries -d 'How often a request is repeated that found no daemon or a fault of it [env: MFA_RETRIES]' -r
complete -c mfa -n "__fish_mfa_using_subcommand office; and __fish_seen_subcommand_from update" -l timeout-seconds -d 'Longest wait for one answer [env: MFA_TIMEOUT_SECONDS]' -r
complete -c mfa -n "__fish_mfa_using_subcommand office; and __fish_seen_subcommand_from update" -l name -d 'Name' -r
complete -c mfa -n "__fish_mfa_using_subcommand office; and __fish_seen_subcommand_from update" -l description -d 'Description; an empty text empties it' -r
complete -c mfa -n "__fish_mfa_using_subcommand office; and __fish_seen_subcommand_from update" -l address -d 'Address, such as street=\'12 Market Road\',city=Accra,country-code=GH,country=Ghana' -r
complete -c mfa -n "__fish_mfa_using_subcommand office; and __fish_seen_subcommand_from update" -l from -d 'Body of JSON or YAML, - for standard input; flags go before it' -r
complete -c mfa -n "__fish_mfa_using_subcommand office; and __fish_seen_subcommand_from update" -l idempotency-key -d 'Key by which the daemon knows a repeated request; a new one by default' -r
complete -c mfa -n "__fish_mfa_using_subcommand office; and __fish_seen_subcommand_from update" -l no-header -d 'Leave out the line of column names'
complete -c mfa -n "__fish_mfa_using_subcommand office; and __fish_seen_subcommand_from update" -s y -l yes -d 'Answer yes to every confirmation [env: MFA_YES]'
complete -c mfa -n "__fish_mfa_using_subcommand office; and __fish_seen_subcommand_from update" -l no-input -d 'Never ask; fail instead [env: MFA_NO_INPUT]'
complete -c mfa -n "__fish_mfa_using_subcommand office; and __fish_seen_subcommand_from update" -s q -l quiet -d 'Say less [env: MFA_QUIET]'
complete -c mfa -n "__fish_mfa_using_subcommand office; and __fish_seen_subcommand_from update" -s v -l verbose -d 'Say more'
complete -c mfa -n "__fish_mfa_using_subcommand office; and __fish_seen_subcommand_from update" -l no-pager -d 'Never start a pager'
complete -c mfa -n "__fish_mfa_using_subcommand office; and __fish_seen_subcommand_from update" -l no-read -d 'Do not read the record back and print it'
complete -c mfa -n "__fish_mfa_using_subcommand office; and __fish_seen_subcommand_from update" -s h -l help -d 'Print help'
complete -c mfa -n "__fish_mfa_using_subcommand office; and __fish_seen_subcommand_from delete" -s o -l output -d 'table, wide, json, jsonl, yaml, csv, tsv or id [env: MFA_OUTPUT]' -r -f -a "table\t'Columns that fit the terminal'
wide\t'Every column, however wide'
json\t'The representation of the wire'
jsonl\t'One record a line, as it arrives'
yaml\t'The representation of the wire as YAML'
csv\t'Every column, separated by commas'
tsv\t'Every column, separated by tabs'
id\t'Identifiers only'"
complete -c mfa -n "__fish_mfa_using_subcommand office; and __fish_seen_subcommand_from delete" -l columns -d 'Columns to show, in this order' -r
complete -c mfa -n "__fish_mfa_using_subcommand office; and __fish_seen_subcommand_from delete" -l url -d 'Address of the daemon [env: MFA_URL]' -r
complete -c mfa -n "__fish_mfa_using_subcommand office; and __fish_seen_subcommand_from delete" -l color -d 'auto, always or never [env: MFA_COLOR]' -r -f -a "auto\t'On a terminal'
always\t'Always'
never\t'Never'"
complete -c mfa -n "__fish_mfa_using_subcommand office; and __fish_seen_subcommand_from delete" -l retries -d 'How often a request is repeated that found no daemon or a fault of it [env: MFA_RETRIES]' -r
complete -c mfa -n "__fish_mfa_using_subcommand office; and __fish_seen_subcommand_from delete" -l timeout-seconds -d 'Longest wait for one answer [env: MFA_TIMEOUT_SECONDS]' -r
complete -c mfa -n "__fish_mfa_using_subcommand office; and __fish_seen_subcommand_from delete" -l idempotency-key -d 'Key by which the daemon knows a repeated request; a new one by default' -r
complete -c mfa -n "__fish_mfa_using_subcommand office; and __fish_seen_subcommand_from delete" -l no-header -d 'Leave out the line of column names'
complete -c mfa -n "__fish_mfa_using_subcommand office; and __fish_seen_subcommand_from delete" -s y -l yes -d 'Answer yes to every confirmation [env: MFA_YES]'
complete -c mfa -n "__fish_mfa_using_subcommand office; and __fish_seen_subcommand_from delete" -l no-input -d 'Never ask; fail instead [env: MFA_NO_INPUT]'
complete -c mfa -n "__fish_mfa_using_subcommand office; and __fish_seen_subcommand_from delete" -s q -l quiet -d 'Say less [env: MFA_QUIET]'
complete -c mfa -n "__fish_mfa_using_subcommand office; and __fish_seen_subcommand_from delete" -s v -l verbose -d 'Say more'
complete -c mfa -n "__fish_mfa_using_subcommand office; and __fish_seen_subcommand_from delete" -l no-pager -d 'Never start a pager'
complete -c mfa -n "__fish_mfa_using_subcommand office; and __fish_seen_subcommand_from delete" -l no-read -d 'Do not read the record back and print it'
complete -c mfa -n "__fish_mfa_using_subcommand office; and __fish_seen_subcommand_from delete" -s h -l help -d 'Print help'
complete -c mfa -n "__fish_mfa_using_subcommand office; and __fish_seen_subcommand_from branches" -s o -l output -d 'table, wide, json, jsonl, yaml, csv, tsv or id [env: MFA_OUTPUT]' -r -f -a "table\t'Columns that fit the terminal'
wide\t'Every column, however wide'
json\t'The representation of the wire'
jsonl\t'One record a line, as it arrives'
yaml\t'The representation of the wire as YAML'
csv\t'Every column, separated by commas'
tsv\t'Every column, separated by tabs'
id\t'Identifiers only'"
complete -c mfa -n "__fish_mfa_using_subcommand office; and __fish_seen_subcommand_from branches" -l columns -d 'Columns to show, in this order' -r
complete -c mfa -n "__fish_mfa_using_subcommand office; and __fish_seen_subcommand_from branches" -l url -d 'Address of the daemon [env: MFA_URL]' -r
complete -c mfa -n "__fish_mfa_using_subcommand office; and __fish_seen_subcommand_from branches" -l color -d 'auto, always or never [env: MFA_COLOR]' -r -f -a "auto\t'On a terminal'
always\t'Always'
never\t'Never'"
complete -c mfa -n "__fish_mfa_using_subcommand office; and __fish_seen_subcommand_from branches" -l retries -d 'How often a request is repeated that found no daemon or a fault of it [env: MFA_RETRIES]' -r
complete -c mfa -n "__fish_mfa_using_subcommand office; and __fish_seen_subcommand_from branches" -l timeout-seconds -d 'Longest wait for one answer [env: MFA_TIMEOUT_SECONDS]' -r
complete -c mfa -n "__fish_mfa_using_subcommand office; and __fish_seen_subcommand_from branches" -l term -d 'Only records that contain this text' -r
complete -c mfa -n "__fish_mfa_using_subcommand office; and __fish_seen_subcommand_from branches" -l sort -d 'Columns to sort by; a minus sign puts the highest first' -r
complete -c mfa -n "__fish_mfa_using_subcommand office; and __fish_seen_subcommand_from branches" -l limit -d 'Most records to list; 50 on a terminal, else all' -r
complete -c mfa -n "__fish_mfa_using_subcommand office; and __fish_seen_subcommand_from branches" -l no-header -d 'Leave out the line of column names'
complete -c mfa -n "__fish_mfa_using_subcommand office; and __fish_seen_subcommand_from branches" -s y -l yes -d 'Answer yes to every confirmation [env: MFA_YES]'
complete -c mfa -n "__fish_mfa_using_subcommand office; and __fish_seen_subcommand_from branches" -l no-input -d 'Never ask; fail instead [env: MFA_NO_INPUT]'
complete -c mfa -n "__fish_mfa_using_subcommand office; and __fish_seen_subcommand_from branches" -s q -l quiet -d 'Say less [env: MFA_QUIET]'
complete -c mfa -n "__fish_mfa_using_subcommand office; and __fish_seen_subcommand_from branches" -s v -l verbose -d 'Say more'
complete -c mfa -n "__fish_mfa_using_subcommand office; and __fish_seen_subcommand_from branches" -l no-pager -d 'Never start a pager'
complete -c mfa -n "__fish_mfa_using_subcommand office; and __fish_seen_subcommand_from branches" -l all -d 'List all records'
complete -c mfa -n "__fish_mfa_using_subcommand office; and __fish_seen_subcommand_from branches" -s h -l help -d 'Print help'
complete -c mfa -n "__fish_mfa_using_subcommand office; and __fish_seen_subcommand_from add-branch" -s o -l output -d 'table, wide, json, jsonl, yaml, csv, tsv or id [env: MFA_OUTPUT]' -r -f -a "table\t'Columns that fit the terminal'
wide\t'Every column, however wide'
json\t'The representation of the wire'
jsonl\t'One record a line, as it arrives'
yaml\t'The representation of the wire as YAML'
csv\t'Every column, separated by commas'
tsv\t'Every column, separated by tabs'
id\t'Identifiers only'"
complete -c mfa -n "__fish_mfa_using_subcommand office; and __fish_seen_subcommand_from add-branch" -l columns -d 'Columns to show, in this order' -r
complete -c mfa -n "__fish_mfa_using_subcommand office; and __fish_seen_subcommand_from add-branch" -l url -d 'Address of the daemon [env: MFA_URL]' -r
complete -c mfa -n "__fish_mfa_using_subcommand office; and __fish_seen_subcommand_from add-branch" -l color -d 'auto, always or never [env: MFA_COLOR]' -r -f -a "auto\t'On a terminal'
always\t'Always'
never\t'Never'"
complete -c mfa -n "__fish_mfa_using_subcommand office; and __fish_seen_subcommand_from add-branch" -l retries -d 'How often a request is repeated that found no daemon or a fault of it [env: MFA_RETRIES]' -r
complete -c mfa -n "__fish_mfa_using_subcommand office; and __fish_seen_subcommand_from add-branch" -l timeout-seconds -d 'Longest wait for one answer [env: MFA_TIMEOUT_SECONDS]' -r
complete -c mfa -n "__fish_mfa_using_subcommand office; and __fish_seen_subcommand_from add-branch" -l name -d 'Name' -r
complete -c mfa -n "__fish_mfa_using_subcommand office; and __fish_seen_subcommand_from add-branch" -l description -d 'Description; an empty text empties it' -r
complete -c mfa -n "__fish_mfa_using_subcommand office; and __fish_seen_subcommand_from add-branch" -l address -d 'Address, such as street=\'12 Market Road\',city=Accra,country-code=GH,country=Ghana' -r
complete -c mfa -n "__fish_mfa_using_subcommand office; and __fish_seen_subcommand_from add-branch" -l from -d 'Body of JSON or YAML, - for standard input; flags go before it' -r
complete -c mfa -n "__fish_mfa_using_subcommand office; and __fish_seen_subcommand_from add-branch" -l idempotency-key -d 'Key by which the daemon knows a repeated request; a new one by default' -r
complete -c mfa -n "__fish_mfa_using_subcommand office; and __fish_seen_subcommand_from add-branch" -l no-header -d 'Leave out the line of column names'
complete -c mfa -n "__fish_mfa_using_subcommand office; and __fish_seen_subcommand_from add-branch" -s y -l yes -d 'Answer yes to every confirmation [env: MFA_YES]'
complete -c mfa -n "__fish_mfa_using_subcommand office; and __fish_seen_subcommand_from add-branch" -l no-input -d 'Never ask; fail instead [env: MFA_NO_INPUT]'
complete -c mfa -n "__fish_mfa_using_subcommand office; and __fish_seen_subcommand_from add-branch" -s q -l quiet -d 'Say less [env: MFA_QUIET]'
complete -c mfa -n "__fish_mfa_using_subcommand office; and __fish_seen_subcommand_from add-branch" -s v -l verbose -d 'Say more'
complete -c mfa -n "__fish_mfa_using_subcommand office; and __fish_seen_subcommand_from add-branch" -l no-pager -d 'Never start a pager'
complete -c mfa -n "__fish_mfa_using_subcommand office; and __fish_seen_subcommand_from add-branch" -l no-read -d 'Do not read the record back and print it'
complete -c mfa -n "__fish_mfa_using_subcommand office; and __fish_seen_subcommand_from add-branch" -s h -l help -d 'Print help'
complete -c mfa -n "__fish_mfa_using_subcommand office; and __fish_seen_subcommand_from address" -s o -l output -d 'table, wide, json, jsonl, yaml, csv, tsv or id [env: MFA_OUTPUT]' -r -f -a "table\t'Columns that fit the terminal'
wide\t'Every column, however wide'
json\t'The representation of the wire'
jsonl\t'One record a line, as it arrives'
yaml\t'The representation of the wire as YAML'
csv\t'Every column, separated by commas'
tsv\t'Every column, separated by tabs'
id\t'Identifiers only'"
complete -c mfa -n "__fish_mfa_using_subcommand office; and __fish_seen_subcommand_from address" -l columns -d 'Columns to show, in this order' -r
complete -c mfa -n "__fish_mfa_using_subcommand office; and __fish_seen_subcommand_from address" -l url -d 'Address of the daemon [env: MFA_URL]' -r
complete -c mfa -n "__fish_mfa_using_subcommand office; and __fish_seen_subcommand_from address" -l color -d 'auto, always or never [env: MFA_COLOR]' -r -f -a "auto\t'On a terminal'
always\t'Always'
never\t'Never'"
complete -c mfa -n "__fish_mfa_using_subcommand office; and __fish_seen_subcommand_from address" -l retries -d 'How often a request is repeated that found no daemon or a fault of it [env: MFA_RETRIES]' -r
complete -c mfa -n "__fish_mfa_using_subcommand office; and __fish_seen_subcommand_from address" -l timeout-seconds -d 'Longest wait for one answer [env: MFA_TIMEOUT_SECONDS]' -r
complete -c mfa -n "__fish_mfa_using_subcommand office; and __fish_seen_subcommand_from address" -l no-header -d 'Leave out the line of column names'
complete -c mfa -n "__fish_mfa_using_subcommand office; and __fish_seen_subcommand_from address" -s y -l yes -d 'Answer yes to every confirmation [env: MFA_YES]'
complete -c mfa -n "__fish_mfa_using_subcommand office; and __fish_seen_subcommand_from address" -l no-input -d 'Never ask; fail instead [env: MFA_NO_INPUT]'
complete -c mfa -n "__fish_mfa_using_subcommand office; and __fish_seen_subcommand_from address" -s q -l quiet -d 'Say less [env: MFA_QUIET]'
complete -c mfa -n "__fish_mfa_using_subcommand office; and __fish_seen_subcommand_from address" -s v -l verbose -d 'Say more'
complete -c mfa -n "__fish_mfa_using_subcommand office; and __fish_seen_subcommand_from address" -l no-pager -d 'Never start a pager'
complete -c mfa -n "__fish_mfa_using_subcommand office; and __fish_seen_subcommand_from address" -s h -l help -d 'Print help'
complete -c mfa -n "__fish_mfa_using_subcommand office; and __fish_seen_subcommand_from address" -f -a "set" -d 'Set the address of an office'
complete -c mfa -n "__fish_mfa_using_subcommand office; and __fish_seen_subcommand_from address" -f -a "get" -d 'Read the address of an office'
complete -c mfa -n "__fish_mfa_using_subcommand office; and __fish_seen_subcommand_from address" -f -a "delete" -d 'Remove the address of an office'
complete -c mfa -n "__fish_mfa_using_subcommand office; and __fish_seen_subcommand_from references" -s o -l output -d 'table, wide, json, jsonl, yaml, csv, tsv or id [env: MFA_OUTPUT]' -r -f -a "table\t'Columns that fit the terminal'
wide\t'Every column, however wide'
json\t'The representation of the wire'
jsonl\t'One record a line, as it arrives'
yaml\t'The representation of the wire as YAML'
csv\t'Every column, separated by commas'
tsv\t'Every column, separated by tabs'
id\t'Identifiers only'"
complete -c mfa -n "__fish_mfa_using_subcommand office; and __fish_seen_subcommand_from references" -l columns -d 'Columns to show, in this order' -r
complete -c mfa -n "__fish_mfa_using_subcommand office; and __fish_seen_subcommand_from references" -l url -d 'Address of the daemon [env: MFA_URL]' -r
complete -c mfa -n "__fish_mfa_using_subcommand office; and __fish_seen_subcommand_from references" -l color -d 'auto, always or never [env: MFA_COLOR]' -r -f -a "auto\t'On a terminal'
always\t'Always'
never\t'Never'"
complete -c mfa -n "__fish_mfa_using_subcommand office; and __fish_seen_subcommand_from references" -l retries -d 'How often a request is repeated that found no daemon or a fault of it [env: MFA_RETRIES]' -r
complete -c mfa -n "__fish_mfa_using_subcommand office; and __fish_seen_subcommand_from references" -l timeout-seconds -d 'Longest wait for one answer [env: MFA_TIMEOUT_SECONDS]' -r
complete -c mfa -n "__fish_mfa_using_subcommand office; and __fish_seen_subcommand_from references" -l no-header -d 'Leave out the line of column names'
complete -c mfa -n "__fish_mfa_using_subcommand office; and __fish_seen_subcommand_from references" -s y -l yes -d 'Answer yes to every confirmation [env: MFA_YES]'
complete -c mfa -n "__fish_mfa_using_subcommand office; and __fish_seen_subcommand_from references" -l no-input -d 'Never ask; fail instead [env: MFA_NO_INPUT]'
complete -c mfa -n "__fish_mfa_using_subcommand office; and __fish_seen_subcommand_from references" -s q -l quiet -d 'Say less [env: MFA_QUIET]'
complete -c mfa -n "__fish_mfa_using_subcommand office; and __fish_seen_subcommand_from references" -s v -l verbose -d 'Say more'
complete -c mfa -n "__fish_mfa_using_subcommand office; and __fish_seen_subcommand_from references" -l no-pager -d 'Never start a pager'
complete -c mfa -n "__fish_mfa_using_subcommand office; and __fish_seen_subcommand_from references" -s h -l help -d 'Print help'
complete -c mfa -n "__fish_mfa_using_subcommand office; and __fish_seen_subcommand_from references" -f -a "set" -d 'Add an external reference to an office, or set the state of the one of this type'
complete -c mfa -n "__fish_mfa_using_subcommand office; and __fish_seen_subcommand_from references" -f -a "list" -d 'List the external references of an office'
complete -c mfa -n "__fish_mfa_using_subcommand office; and __fish_seen_subcommand_from reference" -s o -l output -d 'table, wide, json, jsonl, yaml, csv, tsv or id [env: MFA_OUTPUT]' -r -f -a "table\t'Columns that fit the terminal'
wide\t'Every column, however wide'
json\t'The representation of the wire'
jsonl\t'One record a line, as it arrives'
yaml\t'The representation of the wire as YAML'
csv\t'Every column, separated by commas'
tsv\t'Every column, separated by tabs'
id\t'Identifiers only'"
complete -c mfa -n "__fish_mfa_using_subcommand office; and __fish_seen_subcommand_from reference" -l columns -d 'Columns to show, in this order' -r
complete -c mfa -n "__fish_mfa_using_subcommand office; and __fish_seen_subcommand_from reference" -l url -d 'Address of the daemon [env: MFA_URL]' -r
complete -c mfa -n "__fish_mfa_using_subcommand office; and __fish_seen_subcommand_from reference" -l color -d 'auto, always or never [env: MFA_COLOR]' -r -f -a "auto\t'On a terminal'
always\t'Always'
never\t'Never'"
complete -c mfa -n "__fish_mfa_using_subcommand office; and __fish_seen_subcommand_from reference" -l retries -d 'How often a request is repeated that found no daemon or a fault of it [env: MFA_RETRIES]' -r
complete -c mfa -n "__fish_mfa_using_subcommand office; and __fish_seen_subcommand_from reference" -l timeout-seconds -d 'Longest wait for one answer [env: MFA_TIMEOUT_SECONDS]' -r
complete -c mfa -n "__fish_mfa_using_subcommand office; and __fish_seen_subcommand_from reference" -l no-header -d 'Leave out the line of column names'
complete -c mfa -n "__fish_mfa_using_subcommand office; and __fish_seen_subcommand_from reference" -s y -l yes -d 'Answer yes to every confirmation [env: MFA_YES]'
complete -c mfa -n "__fish_mfa_using_subcommand office; and __fish_seen_subcommand_from reference" -l no-input -d 'Never ask; fail instead [env: MFA_NO_INPUT]'
complete -c mfa -n "__fish_mfa_using_subcommand office; and __fish_seen_subcommand_from reference" -s q -l quiet -d 'Say less [env: MFA_QUIET]'
complete -c mfa -n "__fish_mfa_using_subcommand office; and __fish_seen_subcommand_from reference" -s v -l verbose -d 'Say more'
complete -c mfa -n "__fish_mfa_using_subcommand office; and __fish_seen_subcommand_from reference" -l no-pager -d 'Never start a pager'
complete -c mfa -n "__fish_mfa_using_subcommand office; and __fish_seen_subcommand_from reference" -s h -l help -d 'Print help'
complete -c mfa -n "__fish_mfa_using_subcommand office; and __fish_seen_subcommand_from reference" -f -a "set" -d 'Add an external reference to an office, or set the state of the one of this type'
complete -c mfa -n "__fish_mfa_using_subcommand office; and __fish_seen_subcommand_from reference" -f -a "list" -d 'List the external references of an office'
complete -c mfa -n "__fish_mfa_using_subcommand customers; and not __fish_seen_subcommand_from list get create update activate lock unlock close reopen commands address contacts contact" -s o -l output -d 'table, wide, json, jsonl, yaml, csv, tsv or id [env: MFA_OUTPUT]' -r -f -a "table\t'Columns that fit the terminal'
wide\t'Every column, however wide'
json\t'The representation of the wire'
jsonl\t'One record a line, as it arrives'
yaml\t'The representation of the wire as YAML'
csv\t'Every column, separated by commas'
tsv\t'Every column, separated by tabs'
id\t'Identifiers only'"
complete -c mfa -n "__fish_mfa_using_subcommand customers; and not __fish_seen_subcommand_from list get create update activate lock unlock close reopen commands address contacts contact" -l columns -d 'Columns to show, in this order' -r
complete -c mfa -n "__fish_mfa_using_subcommand customers; and not __fish_seen_subcommand_from list get create update activate lock unlock close reopen commands address contacts contact" -l url -d 'Address of the daemon [env: MFA_URL]' -r
complete -c mfa -n "__fish_mfa_using_subcommand customers; and not __fish_seen_subcommand_from list get create update activate lock unlock close reopen commands address contacts contact" -l color -d 'auto, always or never [env: MFA_COLOR]' -r -f -a "auto\t'On a terminal'
always\t'Always'
never\t'Never'"
complete -c mfa -n "__fish_mfa_using_subcommand customers; and not __fish_seen_subcommand_from list get create update activate lock unlock close reopen commands address contacts contact" -l retries -d 'How often a request is repeated that found no daemon or a fault of it [env: MFA_RETRIES]' -r
complete -c mfa -n "__fish_mfa_using_subcommand customers; and not __fish_seen_subcommand_from list get create update activate lock unlock close reopen commands address contacts contact" -l timeout-seconds -d 'Longest wait for one answer [env: MFA_TIMEOUT_SECONDS]' -r
complete -c mfa -n "__fish_mfa_using_subcommand customers; and not __fish_seen_subcommand_from list get create update activate lock unlock close reopen commands address contacts contact" -l no-header -d 'Leave out the line of column names'
complete -c mfa -n "__fish_mfa_using_subcommand customers; and not __fish_seen_subcommand_from list get create update activate lock unlock close reopen commands address contacts contact" -s y -l yes -d 'Answer yes to every confirmation [env: MFA_YES]'
complete -c mfa -n "__fish_mfa_using_subcommand customers; and not __fish_seen_subcommand_from list get create update activate lock unlock close reopen commands address contacts contact" -l no-input -d 'Never ask; fail instead [env: MFA_NO_INPUT]'
complete -c mfa -n "__fish_mfa_using_subcommand customers; and not __fish_seen_subcommand_from list get create update activate lock unlock close reopen commands address contacts contact" -s q -l quiet -d 'Say less [env: MFA_QUIET]'
complete -c mfa -n "__fish_mfa_using_subcommand customers; and not __fish_seen_subcommand_from list get create update activate lock unlock close reopen commands address contacts contact" -s v -l verbose -d 'Say more'
complete -c mfa -n "__fish_mfa_using_subcommand customers; and not __fish_seen_subcommand_from list get create update activate lock unlock close reopen commands address contacts contact" -l no-pager -d 'Never start a pager'
complete -c mfa -n "__fish_mfa_using_subcommand customers; and not __fish_seen_subcommand_from list get create update activate lock unlock close reopen commands address contacts contact" -s h -l help -d 'Print help'
complete -c mfa -n "__fish_mfa_using_subcommand customers; and not __fish_seen_subcommand_from list get create update activate lock unlock close reopen commands address contacts contact" -f -a "list" -d 'List customers'
complete -c mfa -n "__fish_mfa_using_subcommand customers; and not __fish_seen_subcommand_from list get create update activate lock unlock close reopen commands address contacts contact" -f -a "get" -d 'Read a customer'
complete -c mfa -n "__fish_mfa_using_subcommand customers; and not __fish_seen_subcommand_from list get create update activate lock unlock close reopen commands address contacts contact" -f -a "create" -d 'Register a customer, in state PENDING'
complete -c mfa -n "__fish_mfa_using_subcommand customers; and not __fish_seen_subcommand_from list get create update activate lock unlock close reopen commands address contacts contact" -f -a "update" -d 'Change a customer'
complete -c mfa -n "__fish_mfa_using_subcommand customers; and not __fish_seen_subcommand_from list get create update activate lock unlock close reopen commands address contacts contact" -f -a "activate" -d 'Take a pending customer in'
complete -c mfa -n "__fish_mfa_using_subcommand customers; and not __fish_seen_subcommand_from list get create update activate lock unlock close reopen commands address contacts contact" -f -a "lock" -d 'Lock an active customer'
complete -c mfa -n "__fish_mfa_using_subcommand customers; and not __fish_seen_subcommand_from list get create update activate lock unlock close reopen commands address contacts contact" -f -a "unlock" -d 'Unlock a locked customer'
complete -c mfa -n "__fish_mfa_using_subcommand customers; and not __fish_seen_subcommand_from list get create update activate lock unlock close reopen commands address contacts contact" -f -a "close" -d 'Close a customer that has no open accounts'
complete -c mfa -n "__fish_mfa_using_subcommand customers; and not __fish_seen_subcommand_from list get create update activate lock unlock close reopen commands address contacts contact" -f -a "reopen" -d 'Open a closed customer again'
complete -c mfa -n "__fish_mfa_using_subcommand customers; and not __fish_seen_subcommand_from list get create update activate lock unlock close reopen commands address contacts contact" -f -a "commands" -d 'List the lifecycle commands that were carried out on a customer'
complete -c mfa -n "__fish_mfa_using_subcommand customers; and not __fish_seen_subcommand_from list get create update activate lock unlock close reopen commands address contacts contact" -f -a "address" -d 'The address of a customer'
complete -c mfa -n "__fish_mfa_using_subcommand customers; and not __fish_seen_subcommand_from list get create update activate lock unlock close reopen commands address contacts contact" -f -a "contacts" -d 'How a customer is reached'
complete -c mfa -n "__fish_mfa_using_subcommand customers; and not __fish_seen_subcommand_from list get create update activate lock unlock close reopen commands address contacts contact" -f -a "contact" -d 'How a customer is reached'
complete -c mfa -n "__fish_mfa_using_subcommand customers; and __fish_seen_subcommand_from list" -s o -l output -d 'table, wide, json, jsonl, yaml, csv, tsv or id [env: MFA_OUTPUT]' -r -f -a "table\t'Columns that fit the terminal'
wide\t'Every column, however wide'
json\t'The representation of the wire'
jsonl\t'One record a line, as it arrives'
yaml\t'The representation of the wire as YAML'
csv\t'Every column, separated by commas'
tsv\t'Every column, separated by tabs'
id\t'Identifiers only'"
complete -c mfa -n "__fish_mfa_using_subcommand customers; and __fish_seen_subcommand_from list" -l columns -d 'Columns to show, in this order' -r
complete -c mfa -n "__fish_mfa_using_subcommand customers; and __fish_seen_subcommand_from list" -l url -d 'Address of the daemon [env: MFA_URL]' -r
complete -c mfa -n "__fish_mfa_using_subcommand customers; and __fish_seen_subcommand_from list" -l color -d 'auto, always or never [env: MFA_COLOR]' -r -f -a "auto\t'On a terminal'
always\t'Always'
never\t'Never'"
complete -c mfa -n "__fish_mfa_using_subcommand customers; and __fish_seen_subcommand_from list" -l retries -d 'How often a request is repeated that found no daemon or a fault of it [env: MFA_RETRIES]' -r
complete -c mfa -n "__fish_mfa_using_subcommand customers; and __fish_seen_subcommand_from list" -l timeout-seconds -d 'Longest wait for one answer [env: MFA_TIMEOUT_SECONDS]' -r
complete -c mfa -n "__fish_mfa_using_subcommand customers; and __fish_seen_subcommand_from list" -l term -d 'Only records that contain this text' -r
complete -c mfa -n "__fish_mfa_using_subcommand customers; and __fish_seen_subcommand_from list" -l sort -d 'Columns to sort by; a minus sign puts the highest first' -r
complete -c mfa -n "__fish_mfa_using_subcommand customers; and __fish_seen_subcommand_from list" -l limit -d 'Most records to list; 50 on a terminal, else all' -r
complete -c mfa -n "__fish_mfa_using_subcommand customers; and __fish_seen_subcommand_from list" -l no-header -d 'Leave out the line of column names'
complete -c mfa -n "__fish_mfa_using_subcommand customers; and __fish_seen_subcommand_from list" -s y -l yes -d 'Answer yes to every confirmation [env: MFA_YES]'
complete -c mfa -n "__fish_mfa_using_subcommand customers; and __fish_seen_subcommand_from list" -l no-input -d 'Never ask; fail instead [env: MFA_NO_INPUT]'
complete -c mfa -n "__fish_mfa_using_subcommand customers; and __fish_seen_subcommand_from list" -s q -l quiet -d 'Say less [env: MFA_QUIET]'
complete -c mfa -n "__fish_mfa_using_subcommand customers; and __fish_seen_subcommand_from list" -s v -l verbose -d 'Say more'
complete -c mfa -n "__fish_mfa_using_subcommand customers; and __fish_seen_subcommand_from list" -l no-pager -d 'Never start a pager'
complete -c mfa -n "__fish_mfa_using_subcommand customers; and __fish_seen_subcommand_from list" -l include-closed -d 'List closed customers, too'
complete -c mfa -n "__fish_mfa_using_subcommand customers; and __fish_seen_subcommand_from list" -l all -d 'List all records'
complete -c mfa -n "__fish_mfa_using_subcommand customers; and __fish_seen_subcommand_from list" -s h -l help -d 'Print help'
complete -c mfa -n "__fish_mfa_using_subcommand customers; and __fish_seen_subcommand_from get" -s o -l output -d 'table, wide, json, jsonl, yaml, csv, tsv or id [env: MFA_OUTPUT]' -r -f -a "table\t'Columns that fit the terminal'
wide\t'Every column, however wide'
json\t'The representation of the wire'
jsonl\t'One record a line, as it arrives'
yaml\t'The representation of the wire as YAML'
csv\t'Every column, separated by commas'
tsv\t'Every column, separated by tabs'
id\t'Identifiers only'"
complete -c mfa -n "__fish_mfa_using_subcommand customers; and __fish_seen_subcommand_from get" -l columns -d 'Columns to show, in this order' -r
complete -c mfa -n "__fish_mfa_using_subcommand customers; and __fish_seen_subcommand_from get" -l url -d 'Address of the daemon [env: MFA_URL]' -r
complete -c mfa -n "__fish_mfa_using_subcommand customers; and __fish_seen_subcommand_from get" -l color -d 'auto, always or never [env: MFA_COLOR]' -r -f -a "auto\t'On a terminal'
always\t'Always'
never\t'Never'"
complete -c mfa -n "__fish_mfa_using_subcommand customers; and __fish_seen_subcommand_from get" -l retries -d 'How often a request is repeated that found no daemon or a fault of it [env: MFA_RETRIES]' -r
complete -c mfa -n "__fish_mfa_using_subcommand customers; and __fish_seen_subcommand_from get" -l timeout-seconds -d 'Longest wait for one answer [env: MFA_TIMEOUT_SECONDS]' -r
complete -c mfa -n "__fish_mfa_using_subcommand customers; and __fish_seen_subcommand_from get" -l no-header -d 'Leave out the line of column names'
complete -c mfa -n "__fish_mfa_using_subcommand customers; and __fish_seen_subcommand_from get" -s y -l yes -d 'Answer yes to every confirmation [env: MFA_YES]'
complete -c mfa -n "__fish_mfa_using_subcommand customers; and __fish_seen_subcommand_from get" -l no-input -d 'Never ask; fail instead [env: MFA_NO_INPUT]'
complete -c mfa -n "__fish_mfa_using_subcommand customers; and __fish_seen_subcommand_from get" -s q -l quiet -d 'Say less [env: MFA_QUIET]'
complete -c mfa -n "__fish_mfa_using_subcommand customers; and __fish_seen_subcommand_from get" -s v -l verbose -d 'Say more'
complete -c mfa -n "__fish_mfa_using_subcommand customers; and __fish_seen_subcommand_from get" -l no-pager -d 'Never start a pager'
complete -c mfa -n "__fish_mfa_using_subcommand customers; and __fish_seen_subcommand_from get" -s h -l help -d 'Print help'
complete -c mfa -n "__fish_mfa_using_subcommand customers; and __fish_seen_subcommand_from create" -s o -l output -d 'table, wide, json, jsonl, yaml, csv, tsv or id [env: MFA_OUTPUT]' -r -f -a "table\t'Columns that fit the terminal'
wide\t'Every column, however wide'
json\t'The representation of the wire'
jsonl\t'One record a line, as it arrives'
yaml\t'The representation of the wire as YAML'
csv\t'Every column, separated by commas'
tsv\t'Every column, separated by tabs'
id\t'Identifiers only'"
complete -c mfa -n "__fish_mfa_using_subcommand customers; and __fish_seen_subcommand_from create" -l columns -d 'Columns to show, in this order' -r
complete -c mfa -n "__fish_mfa_using_subcommand customers; and __fish_seen_subcommand_from create" -l url -d 'Address of the daemon [env: MFA_URL]' -r
complete -c mfa -n "__fish_mfa_using_subcommand customers; and __fish_seen_subcommand_from create" -l color -d 'auto, always or never [env: MFA_COLOR]' -r -f -a "auto\t'On a terminal'
always\t'Always'
never\t'Never'"
complete -c mfa -n "__fish_mfa_using_subcommand customers; and __fish_seen_subcommand_from create" -l retries -d 'How often a request is repeated that found no daemon or a fault of it [env: MFA_RETRIES]' -r
complete -c mfa -n "__fish_mfa_using_subcommand customers; and __fish_seen_subcommand_from create" -l timeout-seconds -d 'Longest wait for one answer [env: MFA_TIMEOUT_SECONDS]' -r
complete -c mfa -n "__fish_mfa_using_subcommand customers; and __fish_seen_subcommand_from create" -l type -d 'PERSON or BUSINESS' -r
complete -c mfa -n "__fish_mfa_using_subcommand customers; and __fish_seen_subcommand_from create" -l given-name -d 'Given name' -r
complete -c mfa -n "__fish_mfa_using_subcommand customers; and __fish_seen_subcommand_from create" -l middle-name -d 'Middle name' -r
complete -c mfa -n "__fish_mfa_using_subcommand customers; and __fish_seen_subcommand_from create" -l surname -d 'Surname' -r
complete -c mfa -n "__fish_mfa_using_subcommand customers; and __fish_seen_subcommand_from create" -l date-of-birth -d 'Day of birth' -r
complete -c mfa -n "__fish_mfa_using_subcommand customers; and __fish_seen_subcommand_from create" -l member -d 'Whether the customer is a member of the institution' -r -f -a "true\t''
false\t''"
complete -c mfa -n "__fish_mfa_using_subcommand customers; and __fish_seen_subcommand_from create" -l account-beneficiary -d 'Who benefits from the accounts' -r
complete -c mfa -n "__fish_mfa_using_subcommand customers; and __fish_seen_subcommand_from create" -l reference-customer -d 'The customer who vouches for this one' -r
complete -c mfa -n "__fish_mfa_using_subcommand customers; and __fish_seen_subcommand_from create" -l assigned-office -d 'The office that looks after the customer' -r
complete -c mfa -n "__fish_mfa_using_subcommand customers; and __fish_seen_subcommand_from create" -l assigned-employee -d 'The employee who looks after the customer' -r
complete -c mfa -n "__fish_mfa_using_subcommand customers; and __fish_seen_subcommand_from create" -l application-date -d 'Day of the application' -r
complete -c mfa -n "__fish_mfa_using_subcommand customers; and __fish_seen_subcommand_from create" -l address -d 'Address, such as street=\'3 Hill Road\',city=Accra,country-code=GH,country=Ghana' -r
complete -c mfa -n "__fish_mfa_using_subcommand customers; and __fish_seen_subcommand_from create" -l contact -d 'Contact, such as type=mobile,group=private,value=+233201234567; can be repeated' -r
complete -c mfa -n "__fish_mfa_using_subcommand customers; and __fish_seen_subcommand_from create" -l custom-value -d 'A value beside the fields; can be repeated' -r
complete -c mfa -n "__fish_mfa_using_subcommand customers; and __fish_seen_subcommand_from create" -l from -d 'Body of JSON or YAML, - for standard input; flags go before it' -r
complete -c mfa -n "__fish_mfa_using_subcommand customers; and __fish_seen_subcommand_from create" -l idempotency-key -d 'Key by which the daemon knows a repeated request; a new one by default' -r
complete -c mfa -n "__fish_mfa_using_subcommand customers; and __fish_seen_subcommand_from create" -l no-header -d 'Leave out the line of column names'
complete -c mfa -n "__fish_mfa_using_subcommand customers; and __fish_seen_subcommand_from create" -s y -l yes -d 'Answer yes to every confirmation [env: MFA_YES]'
complete -c mfa -n "__fish_mfa_using_subcommand customers; and __fish_seen_subcommand_from create" -l no-input -d 'Never ask; fail instead [env: MFA_NO_INPUT]'
complete -c mfa -n "__fish_mfa_using_subcommand customers; and __fish_seen_subcommand_from create" -s q -l quiet -d 'Say less [env: MFA_QUIET]'
complete -c mfa -n "__fish_mfa_using_subcommand customers; and __fish_seen_subcommand_from create" -s v -l verbose -d 'Say more'
complete -c mfa -n "__fish_mfa_using_subcommand customers; and __fish_seen_subcommand_from create" -l no-pager -d 'Never start a pager'
complete -c mfa -n "__fish_mfa_using_subcommand customers; and __fish_seen_subcommand_from create" -l no-read -d 'Do not read the record back and print it'
complete -c mfa -n "__fish_mfa_using_subcommand customers; and __fish_seen_subcommand_from create" -s h -l help -d 'Print help'
complete -c mfa -n "__fish_mfa_using_subcommand customers; and __fish_seen_subcommand_from update" -s o -l output -d 'table, wide, json, jsonl, yaml, csv, tsv or id [env: MFA_OUTPUT]' -r -f -a "table\t'Columns that fit the terminal'
wide\t'Every column, however wide'
json\t'The representation of the wire'
jsonl\t'One record a line, as it arrives'
yaml\t'The representation of the wire as YAML'
csv\t'Every column, separated by commas'
tsv\t'Every column, separated by tabs'
id\t'Identifiers only'"
complete -c mfa -n "__fish_mfa_using_subcommand customers; and __fish_seen_subcommand_from update" -l columns -d 'Columns to show, in this order' -r
complete -c mfa -n "__fish_mfa_using_subcommand customers; and __fish_seen_subcommand_from update" -l url -d 'Address of the daemon [env: MFA_URL]' -r
complete -c mfa -n "__fish_mfa_using_subcommand customers; and __fish_seen_subcommand_from update" -l color -d 'auto, always or never [env: MFA_COLOR]' -r -f -a "auto\t'On a terminal'
always\t'Always'
never\t'Never'"
complete -c mfa -n "__fish_mfa_using_subcommand customers; and __fish_seen_subcommand_from update" -l retries -d 'How often a request is repeated that found no daemon or a fault of it [env: MFA_RETRIES]' -r
complete -c mfa -n "__fish_mfa_using_subcommand customers; and __fish_seen_subcommand_from update" -l timeout-seconds -d 'Longest wait for one answer [env: MFA_TIMEOUT_SECONDS]' -r
complete -c mfa -n "__fish_mfa_using_subcommand customers; and __fish_seen_subcommand_from update" -l type -d 'PERSON or BUSINESS' -r
complete -c mfa -n "__fish_mfa_using_subcommand customers; and __fish_seen_subcommand_from update" -l given-name -d 'Given name' -r
complete -c mfa -n "__fish_mfa_using_subcommand customers; and __fish_seen_subcommand_from update" -l middle-name -d 'Middle name' -r
complete -c mfa -n "__fish_mfa_using_subcommand customers; and __fish_seen_subcommand_from update" -l surname -d 'Surname' -r
complete -c mfa -n "__fish_mfa_using_subcommand customers; and __fish_seen_subcommand_from update" -l date-of-birth -d 'Day of birth' -r
complete -c mfa -n "__fish_mfa_using_subcommand customers; and __fish_seen_subcommand_from update" -l member -d 'Whether the customer is a member of the institution' -r -f -a "true\t''
false\t''"
complete -c mfa -n "__fish_mfa_using_subcommand customers; and __fish_seen_subcommand_from update" -l account-beneficiary -d 'Who benefits from the accounts' -r
complete -c mfa -n "__fish_mfa_using_subcommand customers; and __fish_seen_subcommand_from update" -l reference-customer -d 'The customer who vouches for this one' -r
complete -c mfa -n "__fish_mfa_using_subcommand customers; and __fish_seen_subcommand_from update" -l assigned-office -d 'The office that looks after the customer' -r
complete -c mfa -n "__fish_mfa_using_subcommand customers; and __fish_seen_subcommand_from update" -l assigned-employee -d 'The employee who looks after the customer' -r
complete -c mfa -n "__fish_mfa_using_subcommand customers; and __fish_seen_subcommand_from update" -l application-date -d 'Day of the application' -r
complete -c mfa -n "__fish_mfa_using_subcommand customers; and __fish_seen_subcommand_from update" -l address -d 'Address, such as street=\'3 Hill Road\',city=Accra,country-code=GH,country=Ghana' -r
complete -c mfa -n "__fish_mfa_using_subcommand customers; and __fish_seen_subcommand_from update" -l contact -d 'Contact, such as type=mobile,group=private,value=+233201234567; can be repeated' -r
complete -c mfa -n "__fish_mfa_using_subcommand customers; and __fish_seen_subcommand_from update" -l custom-value -d 'A value beside the fields; can be repeated' -r
complete -c mfa -n "__fish_mfa_using_subcommand customers; and __fish_seen_subcommand_from update" -l from -d 'Body of JSON or YAML, - for standard input; flags go before it' -r
complete -c mfa -n "__fish_mfa_using_subcommand customers; and __fish_seen_subcommand_from update" -l clear -d 'Property to empty, such as middleName; can be repeated' -r
complete -c mfa -n "__fish_mfa_using_subcommand customers; and __fish_seen_subcommand_from update" -l idempotency-key -d 'Key by which the daemon knows a repeated request; a new one by default' -r
complete -c mfa -n "__fish_mfa_using_subcommand customers; and __fish_seen_subcommand_from update" -l no-header -d 'Leave out the line of column names'
complete -c mfa -n "__fish_mfa_using_subcommand customers; and __fish_seen_subcommand_from update" -s y -l yes -d 'Answer yes to every confirmation [env: MFA_YES]'
complete -c mfa -n "__fish_mfa_using_subcommand customers; and __fish_seen_subcommand_from update" -l no-input -d 'Never ask; fail instead [env: MFA_NO_INPUT]'
complete -c mfa -n "__fish_mfa_using_subcommand customers; and __fish_seen_subcommand_from update" -s q -l quiet -d 'Say less [env: MFA_QUIET]'
complete -c mfa -n "__fish_mfa_using_subcommand customers; and __fish_seen_subcommand_from update" -s v -l verbose -d 'Say more'
complete -c mfa -n "__fish_mfa_using_subcommand customers; and __fish_seen_subcommand_from update" -l no-pager -d 'Never start a pager'
complete -c mfa -n "__fish_mfa_using_subcommand customers; and __fish_seen_subcommand_from update" -l no-read -d 'Do not read the record back and print it'
complete -c mfa -n "__fish_mfa_using_subcommand customers; and __fish_seen_subcommand_from update" -s h -l help -d 'Print help'
complete -c mfa -n "__fish_mfa_using_subcommand customers; and __fish_seen_subcommand_from activate" -s o -l output -d 'table, wide, json, jsonl, yaml, csv, tsv or id [env: MFA_OUTPUT]' -r -f -a "table\t'Columns that fit the terminal'
wide\t'Every column, however wide'
json\t'The representation of the wire'
jsonl\t'One record a line, as it arrives'
yaml\t'The representation of the wire as YAML'
csv\t'Every column, separated by commas'
tsv\t'Every column, separated by tabs'
id\t'Identifiers only'"
complete -c mfa -n "__fish_mfa_using_subcommand customers; and __fish_seen_subcommand_from activate" -l columns -d 'Columns to show, in this order' -r
complete -c mfa -n "__fish_mfa_using_subcommand customers; and __fish_seen_subcommand_from activate" -l url -d 'Address of the daemon [env: MFA_URL]' -r
complete -c mfa -n "__fish_mfa_using_subcommand customers; and __fish_seen_subcommand_from activate" -l color -d 'auto, always or never [env: MFA_COLOR]' -r -f -a "auto\t'On a terminal'
always\t'Always'
never\t'Never'"
complete -c mfa -n "__fish_mfa_using_subcommand customers; and __fish_seen_subcommand_from activate" -l retries -d 'How often a request is repeated that found no daemon or a fault of it [env: MFA_RETRIES]' -r
complete -c mfa -n "__fish_mfa_using_subcommand customers; and __fish_seen_subcommand_from activate" -l timeout-seconds -d 'Longest wait for one answer [env: MFA_TIMEOUT_SECONDS]' -r
complete -c mfa -n "__fish_mfa_using_subcommand customers; and __fish_seen_subcommand_from activate" -l comment -d 'Why' -r
complete -c mfa -n "__fish_mfa_using_subcommand customers; and __fish_seen_subcommand_from activate" -l idempotency-key -d 'Key by which the daemon knows a repeated request; a new one by default' -r
complete -c mfa -n "__fish_mfa_using_subcommand customers; and __fish_seen_subcommand_from activate" -l no-header -d 'Leave out the line of column names'
complete -c mfa -n "__fish_mfa_using_subcommand customers; and __fish_seen_subcommand_from activate" -s y -l yes -d 'Answer yes to every confirmation [env: MFA_YES]'
complete -c mfa -n "__fish_mfa_using_subcommand customers; and __fish_seen_subcommand_from activate" -l no-input -d 'Never ask; fail instead [env: MFA_NO_INPUT]'
complete -c mfa -n "__fish_mfa_using_subcommand customers; and __fish_seen_subcommand_from activate" -s q -l quiet -d 'Say less [env: MFA_QUIET]'
complete -c mfa -n "__fish_mfa_using_subcommand customers; and __fish_seen_subcommand_from activate" -s v -l verbose -d 'Say more'
complete -c mfa -n "__fish_mfa_using_subcommand customers; and __fish_seen_subcommand_from activate" -l no-pager -d 'Never start a pager'
complete -c mfa -n "__fish_mfa_using_subcommand customers; and __fish_seen_subcommand_from activate" -l no-read -d 'Do not read the record back and print it'
complete -c mfa -n "__fish_mfa_using_subcommand customers; and __fish_seen_subcommand_from activate" -s h -l help -d 'Print help'
complete -c mfa -n "__fish_mfa_using_subcommand customers; and __fish_seen_subcommand_from lock" -s o -l output -d 'table, wide, json, jsonl, yaml, csv, tsv or id [env: MFA_OUTPUT]' -r -f -a "table\t'Columns that fit the terminal'
wide\t'Every column, however wide'
json\t'The representation of the wire'
jsonl\t'One record a line, as it arrives'
yaml\t'The representation of the wire as YAML'
csv\t'Every column, separated by commas'
tsv\t'Every column, separated by tabs'
id\t'Identifiers only'"
complete -c mfa -n "__fish_mfa_using_subcommand customers; and __fish_seen_subcommand_from lock" -l columns -d 'Columns to show, in this order' -r
complete -c mfa -n "__fish_mfa_using_subcommand customers; and __fish_seen_subcommand_from lock" -l url -d 'Address of the daemon [env: MFA_URL]' -r
complete -c mfa -n "__fish_mfa_using_subcommand customers; and __fish_seen_subcommand_from lock" -l color -d 'auto, always or never [env: MFA_COLOR]' -r -f -a "auto\t'On a terminal'
always\t'Always'
never\t'Never'"
complete -c mfa -n "__fish_mfa_using_subcommand customers; and __fish_seen_subcommand_from lock" -l retries -d 'How often a request is repeated that found no daemon or a fault of it [env: MFA_RETRIES]' -r
complete -c mfa -n "__fish_mfa_using_subcommand customers; and __fish_seen_subcommand_from lock" -l timeout-seconds -d 'Longest wait for one answer [env: MFA_TIMEOUT_SECONDS]' -r
complete -c mfa -n "__fish_mfa_using_subcommand customers; and __fish_seen_subcommand_from lock" -l comment -d 'Why' -r
complete -c mfa -n "__fish_mfa_using_subcommand customers; and __fish_seen_subcommand_from lock" -l idempotency-key -d 'Key by which the daemon knows a repeated request; a new one by default' -r
complete -c mfa -n "__fish_mfa_using_subcommand customers; and __fish_seen_subcommand_from lock" -l no-header -d 'Leave out the line of column names'
complete -c mfa -n "__fish_mfa_using_subcommand customers; and __fish_seen_subcommand_from lock" -s y -l yes -d 'Answer yes to every confirmation [env: MFA_YES]'
complete -c mfa -n "__fish_mfa_using_subcommand customers; and __fish_seen_subcommand_from lock" -l no-input -d 'Never ask; fail instead [env: MFA_NO_INPUT]'
complete -c mfa -n "__fish_mfa_using_subcommand customers; and __fish_seen_subcommand_from lock" -s q -l quiet -d 'Say less [env: MFA_QUIET]'
complete -c mfa -n "__fish_mfa_using_subcommand customers; and __fish_seen_subcommand_from lock" -s v -l verbose -d 'Say more'
complete -c mfa -n "__fish_mfa_using_subcommand customers; and __fish_seen_subcommand_from lock" -l no-pager -d 'Never start a pager'
complete -c mfa -n "__fish_mfa_using_subcommand customers; and __fish_seen_subcommand_from lock" -l no-read -d 'Do not read the record back and print it'
complete -c mfa -n "__fish_mfa_using_subcommand customers; and __fish_seen_subcommand_from lock" -s h -l help -d 'Print help'
complete -c mfa -n "__fish_mfa_using_subcommand customers; and __fish_seen_subcommand_from unlock" -s o -l output -d 'table, wide, json, jsonl, yaml, csv, tsv or id [env: MFA_OUTPUT]' -r -f -a "table\t'Columns that fit the terminal'
wide\t'Every column, however wide'
json\t'The representation of the wire'
jsonl\t'One record a line, as it arrives'
yaml\t'The representation of the wire as YAML'
csv\t'Every column, separated by commas'
tsv\t'Every column, separated by tabs'
id\t'Identifiers only'"
complete -c mfa -n "__fish_mfa_using_subcommand customers; and __fish_seen_subcommand_from unlock" -l columns -d 'Columns to show, in this order' -r
complete -c mfa -n "__fish_mfa_using_subcommand customers; and __fish_seen_subcommand_from unlock" -l url -d 'Address of the daemon [env: MFA_URL]' -r
complete -c mfa -n "__fish_mfa_using_subcommand customers; and __fish_seen_subcommand_from unlock" -l color -d 'auto, always or never [env: MFA_COLOR]' -r -f -a "auto\t'On a terminal'
always\t'Always'
never\t'Never'"
complete -c mfa -n "__fish_mfa_using_subcommand customers; and __fish_seen_subcommand_from unlock" -l retries -d 'How often a request is repeated that found no daemon or a fault of it [env: MFA_RETRIES]' -r
complete -c mfa -n "__fish_mfa_using_subcommand customers; and __fish_seen_subcommand_from unlock" -l timeout-seconds -d 'Longest wait for one answer [env: MFA_TIMEOUT_SECONDS]' -r
complete -c mfa -n "__fish_mfa_using_subcommand customers; and __fish_seen_subcommand_from unlock" -l comment -d 'Why' -r
complete -c mfa -n "__fish_mfa_using_subcommand customers; and __fish_seen_subcommand_from unlock" -l idempotency-key -d 'Key by which the daemon knows a repeated request; a new one by default' -r
complete -c mfa -n "__fish_mfa_using_subcommand customers; and __fish_seen_subcommand_from unlock" -l no-header -d 'Leave out the line of column names'
complete -c mfa -n "__fish_mfa_using_subcommand customers; and __fish_seen_subcommand_from unlock" -s y -l yes -d 'Answer yes to every confirmation [env: MFA_YES]'
complete -c mfa -n "__fish_mfa_using_subcommand customers; and __fish_seen_subcommand_from unlock" -l no-input -d 'Never ask; fail instead [env: MFA_NO_INPUT]'
complete -c mfa -n "__fish_mfa_using_subcommand customers; and __fish_seen_subcommand_from unlock" -s q -l quiet -d 'Say less [env: MFA_QUIET]'
complete -c mfa -n "__fish_mfa_using_subcommand customers; and __fish_seen_subcommand_from unlock" -s v -l verbose -d 'Say more'
complete -c mfa -n "__fish_mfa_using_subcommand customers; and __fish_seen_subcommand_from unlock" -l no-pager -d 'Never start a pager'
complete -c mfa -n "__fish_mfa_using_subcommand customers; and __fish_seen_subcommand_from unlock" -l no-read -d 'Do not read the record back and print it'
complete -c mfa -n "__fish_mfa_using_subcommand customers; and __fish_seen_subcommand_from unlock" -s h -l help -d 'Print help'
complete -c mfa -n "__fish_mfa_using_subcommand customers; and __fish_seen_subcommand_from close" -s o -l output -d 'table, wide, json, jsonl, yaml, csv, tsv or id [env: MFA_OUTPUT]' -r -f -a "table\t'Columns that fit the terminal'
wide\t'Every column, however wide'
json\t'The representation of the wire'
jsonl\t'One record a line, as it arrives'
yaml\t'The representation of the wire as YAML'
csv\t'Every column, separated by commas'
tsv\t'Every column, separated by tabs'
id\t'Identifiers only'"
complete -c mfa -n "__fish_mfa_using_subcommand customers; and __fish_seen_subcommand_from close" -l columns -d 'Columns to show, in this order' -r
complete -c mfa -n "__fish_mfa_using_subcommand customers; and __fish_seen_subcommand_from close" -l url -d 'Address of the daemon [env: MFA_URL]' -r
complete -c mfa -n "__fish_mfa_using_subcommand customers; and __fish_seen_subcommand_from close" -l color -d 'auto, always or never [env: MFA_COLOR]' -r -f -a "auto\t'On a terminal'
always\t'Always'
never\t'Never'"
complete -c mfa -n "__fish_mfa_using_subcommand customers; and __fish_seen_subcommand_from close" -l retries -d 'How often a request is repeated that found no daemon or a fault of it [env: MFA_RETRIES]' -r
complete -c mfa -n "__fish_mfa_using_subcommand customers; and __fish_seen_subcommand_from close" -l timeout-seconds -d 'Longest wait for one answer [env: MFA_TIMEOUT_SECONDS]' -r
complete -c mfa -n "__fish_mfa_using_subcommand customers; and __fish_seen_subcommand_from close" -l comment -d 'Why' -r
complete -c mfa -n "__fish_mfa_using_subcommand customers; and __fish_seen_subcommand_from close" -l idempotency-key -d 'Key by which the daemon knows a repeated request; a new one by default' -r
complete -c mfa -n "__fish_mfa_using_subcommand customers; and __fish_seen_subcommand_from close" -l no-header -d 'Leave out the line of column names'
complete -c mfa -n "__fish_mfa_using_subcommand customers; and __fish_seen_subcommand_from close" -s y -l yes -d 'Answer yes to every confirmation [env: MFA_YES]'
complete -c mfa -n "__fish_mfa_using_subcommand customers; and __fish_seen_subcommand_from close" -l no-input -d 'Never ask; fail instead [env: MFA_NO_INPUT]'
complete -c mfa -n "__fish_mfa_using_subcommand customers; and __fish_seen_subcommand_from close" -s q -l quiet -d 'Say less [env: MFA_QUIET]'
complete -c mfa -n "__fish_mfa_using_subcommand customers; and __fish_seen_subcommand_from close" -s v -l verbose -d 'Say more'
complete -c mfa -n "__fish_mfa_using_subcommand customers; and __fish_seen_subcommand_from close" -l no-pager -d 'Never start a pager'
complete -c mfa -n "__fish_mfa_using_subcommand customers; and __fish_seen_subcommand_from close" -l no-read -d 'Do not read the record back and print it'
complete -c mfa -n "__fish_mfa_using_subcommand customers; and __fish_seen_subcommand_from close" -s h -l help -d 'Print help'
complete -c mfa -n "__fish_mfa_using_subcommand customers; and __fish_seen_subcommand_from reopen" -s o -l output -d 'table, wide, json, jsonl, yaml, csv, tsv or id [env: MFA_OUTPUT]' -r -f -a "table\t'Columns that fit the terminal'
wide\t'Every column, however wide'
json\t'The representation of the wire'
jsonl\t'One record a line, as it arrives'
yaml\t'The representation of the wire as YAML'
csv\t'Every column, separated by commas'
tsv\t'Every column, separated by tabs'
id\t'Identifiers only'"
complete -c mfa -n "__fish_mfa_using_subcommand customers; and __fish_seen_subcommand_from reopen" -l columns -d 'Columns to show, in this order' -r
complete -c mfa -n "__fish_mfa_using_subcommand customers; and __fish_seen_subcommand_from reopen" -l url -d 'Address of the daemon [env: MFA_URL]' -r
complete -c mfa -n "__fish_mfa_using_subcommand customers; and __fish_seen_subcommand_from reopen" -l color -d 'auto, always or never [env: MFA_COLOR]' -r -f -a "auto\t'On a terminal'
always\t'Always'
never\t'Never'"
complete -c mfa -n "__fish_mfa_using_subcommand customers; and __fish_seen_subcommand_from reopen" -l retries -d 'How often a request is repeated that found no daemon or a fault of it [env: MFA_RETRIES]' -r
complete -c mfa -n "__fish_mfa_using_subcommand customers; and __fish_seen_subcommand_from reopen" -l timeout-seconds -d 'Longest wait for one answer [env: MFA_TIMEOUT_SECONDS]' -r
complete -c mfa -n "__fish_mfa_using_subcommand customers; and __fish_seen_subcommand_from reopen" -l comment -d 'Why' -r
complete -c mfa -n "__fish_mfa_using_subcommand customers; and __fish_seen_subcommand_from reopen" -l idempotency-key -d 'Key by which the daemon knows a repeated request; a new one by default' -r
complete -c mfa -n "__fish_mfa_using_subcommand customers; and __fish_seen_subcommand_from reopen" -l no-header -d 'Leave out the line of column names'
complete -c mfa -n "__fish_mfa_using_subcommand customers; and __fish_seen_subcommand_from reopen" -s y -l yes -d 'Answer yes to every confirmation [env: MFA_YES]'
complete -c mfa -n "__fish_mfa_using_subcommand customers; and __fish_seen_subcommand_from reopen" -l no-input -d 'Never ask; fail instead [env: MFA_NO_INPUT]'
complete -c mfa -n "__fish_mfa_using_subcommand customers; and __fish_seen_subcommand_from reopen" -s q -l quiet -d 'Say less [env: MFA_QUIET]'
complete -c mfa -n "__fish_mfa_using_subcommand customers; and __fish_seen_subcommand_from reopen" -s v -l verbose -d 'Say more'
complete -c mfa -n "__fish_mfa_using_subcommand customers; and __fish_seen_subcommand_from reopen" -l no-pager -d 'Never start a pager'
complete -c mfa -n "__fish_mfa_using_subcommand customers; and __fish_seen_subcommand_from reopen" -l no-read -d 'Do not read the record back and print it'
complete -c mfa -n "__fish_mfa_using_subcommand customers; and __fish_seen_subcommand_from reopen" -s h -l help -d 'Print help'
complete -c mfa -n "__fish_mfa_using_subcommand customers; and __fish_seen_subcommand_from commands" -s o -l output -d 'table, wide, json, jsonl, yaml, csv, tsv or id [env: MFA_OUTPUT]' -r -f -a "table\t'Columns that fit the terminal'
wide\t'Every column, however wide'
json\t'The representation of the wire'
jsonl\t'One record a line, as it arrives'
yaml\t'The representation of the wire as YAML'
csv\t'Every column, separated by commas'
tsv\t'Every column, separated by tabs'
id\t'Identifiers only'"
complete -c mfa -n "__fish_mfa_using_subcommand customers; and __fish_seen_subcommand_from commands" -l columns -d 'Columns to show, in this order' -r
complete -c mfa -n "__fish_mfa_using_subcommand customers; and __fish_seen_subcommand_from commands" -l url -d 'Address of the daemon [env: MFA_URL]' -r
complete -c mfa -n "__fish_mfa_using_subcommand customers; and __fish_seen_subcommand_from commands" -l color -d 'auto, always or never [env: MFA_COLOR]' -r -f -a "auto\t'On a terminal'
always\t'Always'
never\t'Never'"
complete -c mfa -n "__fish_mfa_using_subcommand customers; and __fish_seen_subcommand_from commands" -l retries -d 'How often a request is repeated that found no daemon or a fault of it [env: MFA_RETRIES]' -r
complete -c mfa -n "__fish_mfa_using_subcommand customers; and __fish_seen_subcommand_from commands" -l timeout-seconds -d 'Longest wait for one answer [env: MFA_TIMEOUT_SECONDS]' -r
complete -c mfa -n "__fish_mfa_using_subcommand customers; and __fish_seen_subcommand_from commands" -l no-header -d 'Leave out the line of column names'
complete -c mfa -n "__fish_mfa_using_subcommand customers; and __fish_seen_subcommand_from commands" -s y -l yes -d 'Answer yes to every confirmation [env: MFA_YES]'
complete -c mfa -n "__fish_mfa_using_subcommand customers; and __fish_seen_subcommand_from commands" -l no-input -d 'Never ask; fail instead [env: MFA_NO_INPUT]'
complete -c mfa -n "__fish_mfa_using_subcommand customers; and __fish_seen_subcommand_from commands" -s q -l quiet -d 'Say less [env: MFA_QUIET]'
complete -c mfa -n "__fish_mfa_using_subcommand customers; and __fish_seen_subcommand_from commands" -s v -l verbose -d 'Say more'
complete -c mfa -n "__fish_mfa_using_subcommand customers; and __fish_seen_subcommand_from commands" -l no-pager -d 'Never start a pager'
complete -c mfa -n "__fish_mfa_using_subcommand customers; and __fish_seen_subcommand_from commands" -s h -l help -d 'Print help'
complete -c mfa -n "__fish_mfa_using_subcommand customers; and __fish_seen_subcommand_from address" -s o -l output -d 'table, wide, json, jsonl, yaml, csv, tsv or id [env: MFA_OUTPUT]' -r -f -a "table\t'Columns that fit the terminal'
wide\t'Every column, however wide'
json\t'The representation of the wire'
jsonl\t'One record a line, as it arrives'
yaml\t'The representation of the wire as YAML'
csv\t'Every column, separated by commas'
tsv\t'Every column, separated by tabs'
id\t'Identifiers only'"
complete -c mfa -n "__fish_mfa_using_subcommand customers; and __fish_seen_subcommand_from address" -l columns -d 'Columns to show, in this order' -r
complete -c mfa -n "__fish_mfa_using_subcommand customers; and __fish_seen_subcommand_from address" -l url -d 'Address of the daemon [env: MFA_URL]' -r
complete -c mfa -n "__fish_mfa_using_subcommand customers; and __fish_seen_subcommand_from address" -l color -d 'auto, always or never [env: MFA_COLOR]' -r -f -a "auto\t'On a terminal'
always\t'Always'
never\t'Never'"
complete -c mfa -n "__fish_mfa_using_subcommand customers; and __fish_seen_subcommand_from address" -l retries -d 'How often a request is repeated that found no daemon or a fault of it [env: MFA_RETRIES]' -r
complete -c mfa -n "__fish_mfa_using_subcommand customers; and __fish_seen_subcommand_from address" -l timeout-seconds -d 'Longest wait for one answer [env: MFA_TIMEOUT_SECONDS]' -r
complete -c mfa -n "__fish_mfa_using_subcommand customers; and __fish_seen_subcommand_from address" -l no-header -d 'Leave out the line of column names'
complete -c mfa -n "__fish_mfa_using_subcommand customers; and __fish_seen_subcommand_from address" -s y -l yes -d 'Answer yes to every confirmation [env: MFA_YES]'
complete -c mfa -n "__fish_mfa_using_subcommand customers; and __fish_seen_subcommand_from address" -l no-input -d 'Never ask; fail instead [env: MFA_NO_INPUT]'
complete -c mfa -n "__fish_mfa_using_subcommand customers; and __fish_seen_subcommand_from address" -s q -l quiet -d 'Say less [env: MFA_QUIET]'
complete -c mfa -n "__fish_mfa_using_subcommand customers; and __fish_seen_subcommand_from address" -s v -l verbose -d 'Say more'
complete -c mfa -n "__fish_mfa_using_subcommand customers; and __fish_seen_subcommand_from address" -l no-pager -d 'Never start a pager'
complete -c mfa -n "__fish_mfa_using_subcommand customers; and __fish_seen_subcommand_from address" -s h -l help -d 'Print help'
complete -c mfa -n "__fish_mfa_using_subcommand customers; and __fish_seen_subcommand_from address" -f -a "set" -d 'Set the address of a customer'
complete -c mfa -n "__fish_mfa_using_subcommand customers; and __fish_seen_subcommand_from contacts" -s o -l output -d 'table, wide, json, jsonl, yaml, csv, tsv or id [env: MFA_OUTPUT]' -r -f -a "table\t'Columns that fit the terminal'
wide\t'Every column, however wide'
json\t'The representation of the wire'
jsonl\t'One record a line, as it arrives'
yaml\t'The representation of the wire as YAML'
csv\t'Every column, separated by commas'
tsv\t'Every column, separated by tabs'
id\t'Identifiers only'"
complete -c mfa -n "__fish_mfa_using_subcommand customers; and __fish_seen_subcommand_from contacts" -l columns -d 'Columns to show, in this order' -r
complete -c mfa -n "__fish_mfa_using_subcommand customers; and __fish_seen_subcommand_from contacts" -l url -d 'Address of the daemon [env: MFA_URL]' -r
complete -c mfa -n "__fish_mfa_using_subcommand customers; and __fish_seen_subcommand_from contacts" -l color -d 'auto, always or never [env: MFA_COLOR]' -r -f -a "auto\t'On a terminal'
always\t'Always'
never\t'Never'"
complete -c mfa -n "__fish_mfa_using_subcommand customers; and __fish_seen_subcommand_from contacts" -l retries -d 'How often a request is repeated that found no daemon or a fault of it [env: MFA_RETRIES]' -r
complete -c mfa -n "__fish_mfa_using_subcommand customers; and __fish_seen_subcommand_from contacts" -l timeout-seconds -d 'Longest wait for one answer [env: MFA_TIMEOUT_SECONDS]' -r
complete -c mfa -n "__fish_mfa_using_subcommand customers; and __fish_seen_subcommand_from contacts" -l no-header -d 'Leave out the line of column names'
complete -c mfa -n "__fish_mfa_using_subcommand customers; and __fish_seen_subcommand_from contacts" -s y -l yes -d 'Answer yes to every confirmation [env: MFA_YES]'
complete -c mfa -n "__fish_mfa_using_subcommand customers; and __fish_seen_subcommand_from contacts" -l no-input -d 'Never ask; fail instead [env: MFA_NO_INPUT]'
complete -c mfa -n "__fish_mfa_using_subcommand customers; and __fish_seen_subcommand_from contacts" -s q -l quiet -d 'Say less [env: MFA_QUIET]'
complete -c mfa -n "__fish_mfa_using_subcommand customers; and __fish_seen_subcommand_from contacts" -s v -l verbose -d 'Say more'
complete -c mfa -n "__fish_mfa_using_subcommand customers; and __fish_seen_subcommand_from contacts" -l no-pager -d 'Never start a pager'
complete -c mfa -n "__fish_mfa_using_subcommand customers; and __fish_seen_subcommand_from contacts" -s h -l help -d 'Print help'
complete -c mfa -n "__fish_mfa_using_subcommand customers; and __fish_seen_subcommand_from contacts" -f -a "set" -d 'Replace the contact details of a customer'
complete -c mfa -n "__fish_mfa_using_subcommand customers; and __fish_seen_subcommand_from contact" -s o -l output -d 'table, wide, json, jsonl, yaml, csv, tsv or id [env: MFA_OUTPUT]' -r -f -a "table\t'Columns that fit the terminal'
wide\t'Every column, however wide'
json\t'The representation of the wire'
jsonl\t'One record a line, as it arrives'
yaml\t'The representation of the wire as YAML'
csv\t'Every column, separated by commas'
tsv\t'Every column, separated by tabs'
id\t'Identifiers only'"
complete -c mfa -n "__fish_mfa_using_subcommand customers; and __fish_seen_subcommand_from contact" -l columns -d 'Columns to show, in this order' -r
complete -c mfa -n "__fish_mfa_using_subcommand customers; and __fish_seen_subcommand_from contact" -l url -d 'Address of the daemon [env: MFA_URL]' -r
complete -c mfa -n "__fish_mfa_using_subcommand customers; and __fish_seen_subcommand_from contact" -l color -d 'auto, always or never [env: MFA_COLOR]' -r -f -a "auto\t'On a terminal'
always\t'Always'
never\t'Never'"
complete -c mfa -n "__fish_mfa_using_subcommand customers; and __fish_seen_subcommand_from contact" -l retries -d 'How often a request is repeated that found no daemon or a fault of it [env: MFA_RETRIES]' -r
complete -c mfa -n "__fish_mfa_using_subcommand customers; and __fish_seen_subcommand_from contact" -l timeout-seconds -d 'Longest wait for one answer [env: MFA_TIMEOUT_SECONDS]' -r
complete -c mfa -n "__fish_mfa_using_subcommand customers; and __fish_seen_subcommand_from contact" -l no-header -d 'Leave out the line of column names'
complete -c mfa -n "__fish_mfa_using_subcommand customers; and __fish_seen_subcommand_from contact" -s y -l yes -d 'Answer yes to every confirmation [env: MFA_YES]'
complete -c mfa -n "__fish_mfa_using_subcommand customers; and __fish_seen_subcommand_from contact" -l no-input -d 'Never ask; fail instead [env: MFA_NO_INPUT]'
complete -c mfa -n "__fish_mfa_using_subcommand customers; and __fish_seen_subcommand_from contact" -s q -l quiet -d 'Say less [env: MFA_QUIET]'
complete -c mfa -n "__fish_mfa_using_subcommand customers; and __fish_seen_subcommand_from contact" -s v -l verbose -d 'Say more'
complete -c mfa -n "__fish_mfa_using_subcommand customers; and __fish_seen_subcommand_from contact" -l no-pager -d 'Never start a pager'
complete -c mfa -n "__fish_mfa_using_subcommand customers; and __fish_seen_subcommand_from contact" -s h -l help -d 'Print help'
complete -c mfa -n "__fish_mfa_using_subcommand customers; and __fish_seen_subcommand_from contact" -f -a "set" -d 'Replace the contact details of a customer'
complete -c mfa -n "__fish_mfa_using_subcommand customer; and not __fish_seen_subcommand_from list get create update activate lock unlock close reopen commands address contacts contact" -s o -l output -d 'table, wide, json, jsonl, yaml, csv, tsv or id [env: MFA_OUTPUT]' -r -f -a "table\t'Columns that fit the terminal'
wide\t'Every column, however wide'
json\t'The representation of the wire'
jsonl\t'One record a line, as it arrives'
yaml\t'The representation of the wire as YAML'
csv\t'Every column, separated by commas'
tsv\t'Every column, separated by tabs'
id\t'Identifiers only'"
complete -c mfa -n "__fish_mfa_using_subcommand customer; and not __fish_seen_subcommand_from list get create update activate lock unlock close reopen commands address contacts contact" -l columns -d 'Columns to show, in this order' -r
complete -c mfa -n "__fish_mfa_using_subcommand customer; and not __fish_seen_subcommand_from list get create update activate lock unlock close reopen commands address contacts contact" -l url -d 'Address of the daemon [env: MFA_URL]' -r
complete -c mfa -n "__fish_mfa_using_subcommand customer; and not __fish_seen_subcommand_from list get create update activate lock unlock close reopen commands address contacts contact" -l color -d 'auto, always or never [env: MFA_COLOR]' -r -f -a "auto\t'On a terminal'
always\t'Always'
never\t'Never'"
complete -c mfa -n "__fish_mfa_using_subcommand customer; and not __fish_seen_subcommand_from list get create update activate lock unlock close reopen commands address contacts contact" -l retries -d 'How often a request is repeated that found no daemon or a fault of it [env: MFA_RETRIES]' -r
complete -c mfa -n "__fish_mfa_using_subcommand customer; and not __fish_seen_subcommand_from list get create update activate lock unlock close reopen commands address contacts contact" -l timeout-seconds -d 'Longest wait for one answer [env: MFA_TIMEOUT_SECONDS]' -r
complete -c mfa -n "__fish_mfa_using_subcommand customer; and not __fish_seen_subcommand_from list get create update activate lock unlock close reopen commands address contacts contact" -l no-header -d 'Leave out the line of column names'
complete -c mfa -n "__fish_mfa_using_subcommand customer; and not __fish_seen_subcommand_from list get create update activate lock unlock close reopen commands address contacts contact" -s y -l yes -d 'Answer yes to every confirmation [env: MFA_YES]'
complete -c mfa -n "__fish_mfa_using_subcommand customer; and not __fish_seen_subcommand_from list get create update activate lock unlock close reopen commands address contacts contact" -l no-input -d 'Never ask; fail instead [env: MFA_NO_INPUT]'
complete -c mfa -n "__fish_mfa_using_subcommand customer; and not __fish_seen_subcommand_from list get create update activate lock unlock close reopen commands address contacts contact" -s q -l quiet -d 'Say less [env: MFA_QUIET]'
complete -c mfa -n "__fish_mfa_using_subcommand customer; and not __fish_seen_subcommand_from list get create update activate lock unlock close reopen commands address contacts contact" -s v -l verbose -d 'Say more'
complete -c mfa -n "__fish_mfa_using_subcommand customer; and not __fish_seen_subcommand_from list get create update activate lock unlock close reopen commands address contacts contact" -l no-pager -d 'Never start a pager'
complete -c mfa -n "__fish_mfa_using_subcommand customer; and not __fish_seen_subcommand_from list get create update activate lock unlock close reopen commands address contacts contact" -s h -l help -d 'Print help'
complete -c mfa -n "__fish_mfa_using_subcommand customer; and not __fish_seen_subcommand_from list get create update activate lock unlock close reopen commands address contacts contact" -f -a "list" -d 'List customers'
complete -c mfa -n "__fish_mfa_using_subcommand customer; and not __fish_seen_subcommand_from list get create update activate lock unlock close reopen commands address contacts contact" -f -a "get" -d 'Read a customer'
complete -c mfa -n "__fish_mfa_using_subcommand customer; and not __fish_seen_subcommand_from list get create update activate lock unlock close reopen commands address contacts contact" -f -a "create" -d 'Register a customer, in state PENDING'
complete -c mfa -n "__fish_mfa_using_subcommand customer; and not __fish_seen_subcommand_from list get create update activate lock unlock close reopen commands address contacts contact" -f -a "update" -d 'Change a customer'
complete -c mfa -n "__fish_mfa_using_subcommand customer; and not __fish_seen_subcommand_from list get create update activate lock unlock close reopen commands address contacts contact" -f -a "activate" -d 'Take a pending customer in'
complete -c mfa -n "__fish_mfa_using_subcommand customer; and not __fish_seen_subcommand_from list get create update activate lock unlock close reopen commands address contacts contact" -f -a "lock" -d 'Lock an active customer'
complete -c mfa -n "__fish_mfa_using_subcommand customer; and not __fish_seen_subcommand_from list get create update activate lock unlock close reopen commands address contacts contact" -f -a "unlock" -d 'Unlock a locked customer'
complete -c mfa -n "__fish_mfa_using_subcommand customer; and not __fish_seen_subcommand_from list get create update activate lock unlock close reopen commands address contacts contact" -f -a "close" -d 'Close a customer that has no open accounts'
complete -c mfa -n "__fish_mfa_using_subcommand customer; and not __fish_seen_subcommand_from list get create update activate lock unlock close reopen commands address contacts contact" -f -a "reopen" -d 'Open a closed customer again'
complete -c mfa -n "__fish_mfa_using_subcommand customer; and not __fish_seen_subcommand_from list get create update activate lock unlock close reopen commands address contacts contact" -f -a "commands" -d 'List the lifecycle commands that were carried out on a customer'
complete -c mfa -n "__fish_mfa_using_subcommand customer; and not __fish_seen_subcommand_from list get create update activate lock unlock close reopen commands address contacts contact" -f -a "address" -d 'The address of a customer'
complete -c mfa -n "__fish_mfa_using_subcommand customer; and not __fish_seen_subcommand_from list get create update activate lock unlock close reopen commands address contacts contact" -f -a "contacts" -d 'How a customer is reached'
complete -c mfa -n "__fish_mfa_using_subcommand customer; and not __fish_seen_subcommand_from list get create update activate lock unlock close reopen commands address contacts contact" -f -a "contact" -d 'How a customer is reached'
complete -c mfa -n "__fish_mfa_using_subcommand customer; and __fish_seen_subcommand_from list" -s o -l output -d 'table, wide, json, jsonl, yaml, csv, tsv or id [env: MFA_OUTPUT]' -r -f -a "table\t'Columns that fit the terminal'
wide\t'Every column, however wide'
json\t'The representation of the wire'
jsonl\t'One record a line, as it arrives'
yaml\t'The representation of the wire as YAML'
csv\t'Every column, separated by commas'
tsv\t'Every column, separated by tabs'
id\t'Identifiers only'"
complete -c mfa -n "__fish_mfa_using_subcommand customer; and __fish_seen_subcommand_from list" -l columns -d 'Columns to show, in this order' -r
complete -c mfa -n "__fish_mfa_using_subcommand customer; and __fish_seen_subcommand_from list" -l url -d 'Address of the daemon [env: MFA_URL]' -r
complete -c mfa -n "__fish_mfa_using_subcommand customer; and __fish_seen_subcommand_from list" -l color -d 'auto, always or never [env: MFA_COLOR]' -r -f -a "auto\t'On a terminal'
always\t'Always'
never\t'Never'"
complete -c mfa -n "__fish_mfa_using_subcommand customer; and __fish_seen_subcommand_from list" -l retries -d 'How often a request is repeated that found no daemon or a fault of it [env: MFA_RETRIES]' -r
complete -c mfa -n "__fish_mfa_using_subcommand customer; and __fish_seen_subcommand_from list" -l timeout-seconds -d 'Longest wait for one answer [env: MFA_TIMEOUT_SECONDS]' -r
complete -c mfa -n "__fish_mfa_using_subcommand customer; and __fish_seen_subcommand_from list" -l term -d 'Only records that contain this text' -r
complete -c mfa -n "__fish_mfa_using_subcommand customer; and __fish_seen_subcommand_from list" -l sort -d 'Columns to sort by; a minus sign puts the highest first' -r
complete -c mfa -n "__fish_mfa_using_subcommand customer; and __fish_seen_subcommand_from list" -l limit -d 'Most records to list; 50 on a terminal, else all' -r
complete -c mfa -n "__fish_mfa_using_subcommand customer; and __fish_seen_subcommand_from list" -l no-header -d 'Leave out the line of column names'
complete -c mfa -n "__fish_mfa_using_subcommand customer; and __fish_seen_subcommand_from list" -s y -l yes -d 'Answer yes to every confirmation [env: MFA_YES]'
complete -c mfa -n "__fish_mfa_using_subcommand customer; and __fish_seen_subcommand_from list" -l no-input -d 'Never ask; fail instead [env: MFA_NO_INPUT]'
complete -c mfa -n "__fish_mfa_using_subcommand customer; and __fish_seen_subcommand_from list" -s q -l quiet -d 'Say less [env: MFA_QUIET]'
complete -c mfa -n "__fish_mfa_using_subcommand customer; and __fish_seen_subcommand_from list" -s v -l verbose -d 'Say more'
complete -c mfa -n "__fish_mfa_using_subcommand customer; and __fish_seen_subcommand_from list" -l no-pager -d 'Never start a pager'
complete -c mfa -n "__fish_mfa_using_subcommand customer; and __fish_seen_subcommand_from list" -l include-closed -d 'List closed customers, too'
complete -c mfa -n "__fish_mfa_using_subcommand customer; and __fish_seen_subcommand_from list" -l all -d 'List all records'
complete -c mfa -n "__fish_mfa_using_subcommand customer; and __fish_seen_subcommand_from list" -s h -l help -d 'Print help'
complete -c mfa -n "__fish_mfa_using_subcommand customer; and __fish_seen_subcommand_from get" -s o -l output -d 'table, wide, json, jsonl, yaml, csv, tsv or id [env: MFA_OUTPUT]' -r -f -a "table\t'Columns that fit the terminal'
wide\t'Every column, however wide'
json\t'The representation of the wire'
jsonl\t'One record a line, as it arrives'
yaml\t'The representation of the wire as YAML'
csv\t'Every column, separated by commas'
tsv\t'Every column, separated by tabs'
id\t'Identifiers only'"
complete -c mfa -n "__fish_mfa_using_subcommand customer; and __fish_seen_subcommand_from get" -l columns -d 'Columns to show, in this order' -r
complete -c mfa -n "__fish_mfa_using_subcommand customer; and __fish_seen_subcommand_from get" -l url -d 'Address of the daemon [env: MFA_URL]' -r
complete -c mfa -n "__fish_mfa_using_subcommand customer; and __fish_seen_subcommand_from get" -l color -d 'auto, always or never [env: MFA_COLOR]' -r -f -a "auto\t'On a terminal'
always\t'Always'
never\t'Never'"
complete -c mfa -n "__fish_mfa_using_subcommand customer; and __fish_seen_subcommand_from get" -l retries -d 'How often a request is repeated that found no daemon or a fault of it [env: MFA_RETRIES]' -r
complete -c mfa -n "__fish_mfa_using_subcommand customer; and __fish_seen_subcommand_from get" -l timeout-seconds -d 'Longest wait for one answer [env: MFA_TIMEOUT_SECONDS]' -r
complete -c mfa -n "__fish_mfa_using_subcommand customer; and __fish_seen_subcommand_from get" -l no-header -d 'Leave out the line of column names'
complete -c mfa -n "__fish_mfa_using_subcommand customer; and __fish_seen_subcommand_from get" -s y -l yes -d 'Answer yes to every confirmation [env: MFA_YES]'
complete -c mfa -n "__fish_mfa_using_subcommand customer; and __fish_seen_subcommand_from get" -l no-input -d 'Never ask; fail instead [env: MFA_NO_INPUT]'
complete -c mfa -n "__fish_mfa_using_subcommand customer; and __fish_seen_subcommand_from get" -s q -l quiet -d 'Say less [env: MFA_QUIET]'
complete -c mfa -n "__fish_mfa_using_subcommand customer; and __fish_seen_subcommand_from get" -s v -l verbose -d 'Say more'
complete -c mfa -n "__fish_mfa_using_subcommand customer; and __fish_seen_subcommand_from get" -l no-pager -d 'Never start a pager'
complete -c mfa -n "__fish_mfa_using_subcommand customer; and __fish_seen_subcommand_from get" -s h -l help -d 'Print help'
complete -c mfa -n "__fish_mfa_using_subcommand customer; and __fish_seen_subcommand_from create" -s o -l output -d 'table, wide, json, jsonl, yaml, csv, tsv or id [env: MFA_OUTPUT]' -r -f -a "table\t'Columns that fit the terminal'
wide\t'Every column, however wide'
json\t'The representation of the wire'
jsonl\t'One record a line, as it arrives'
yaml\t'The representation of the wire as YAML'
csv\t'Every column, separated by commas'
tsv\t'Every column, separated by tabs'
id\t'Identifiers only'"
complete -c mfa -n "__fish_mfa_using_subcommand customer; and __fish_seen_subcommand_from create" -l columns -d 'Columns to show, in this order' -r
complete -c mfa -n "__fish_mfa_using_subcommand customer; and __fish_seen_subcommand_from create" -l url -d 'Address of the daemon [env: MFA_URL]' -r
complete -c mfa -n "__fish_mfa_using_subcommand customer; and __fish_seen_subcommand_from create" -l color -d 'auto, always or never [env: MFA_COLOR]' -r -f -a "auto\t'On a terminal'
always\t'Always'
never\t'Never'"
complete -c mfa -n "__fish_mfa_using_subcommand customer; and __fish_seen_subcommand_from create" -l retries -d 'How often a request is repeated that found no daemon or a fault of it [env: MFA_RETRIES]' -r
complete -c mfa -n "__fish_mfa_using_subcommand customer; and __fish_seen_subcommand_from create" -l timeout-seconds -d 'Longest wait for one answer [env: MFA_TIMEOUT_SECONDS]' -r
complete -c mfa -n "__fish_mfa_using_subcommand customer; and __fish_seen_subcommand_from create" -l type -d 'PERSON or BUSINESS' -r
complete -c mfa -n "__fish_mfa_using_subcommand customer; and __fish_seen_subcommand_from create" -l given-name -d 'Given name' -r
complete -c mfa -n "__fish_mfa_using_subcommand customer; and __fish_seen_subcommand_from create" -l middle-name -d 'Middle name' -r
complete -c mfa -n "__fish_mfa_using_subcommand customer; and __fish_seen_subcommand_from create" -l surname -d 'Surname' -r
complete -c mfa -n "__fish_mfa_using_subcommand customer; and __fish_seen_subcommand_from create" -l date-of-birth -d 'Day of birth' -r
complete -c mfa -n "__fish_mfa_using_subcommand customer; and __fish_seen_subcommand_from create" -l member -d 'Whether the customer is a member of the institution' -r -f -a "true\t''
false\t''"
complete -c mfa -n "__fish_mfa_using_subcommand customer; and __fish_seen_subcommand_from create" -l account-beneficiary -d 'Who benefits from the accounts' -r
complete -c mfa -n "__fish_mfa_using_subcommand customer; and __fish_seen_subcommand_from create" -l reference-customer -d 'The customer who vouches for this one' -r
complete -c mfa -n "__fish_mfa_using_subcommand customer; and __fish_seen_subcommand_from create" -l assigned-office -d 'The office that looks after the customer' -r
complete -c mfa -n "__fish_mfa_using_subcommand customer; and __fish_seen_subcommand_from create" -l assigned-employee -d 'The employee who looks after the customer' -r
complete -c mfa -n "__fish_mfa_using_subcommand customer; and __fish_seen_subcommand_from create" -l application-date -d 'Day of the application' -r
complete -c mfa -n "__fish_mfa_using_subcommand customer; and __fish_seen_subcommand_from create" -l address -d 'Address, such as street=\'3 Hill Road\',city=Accra,country-code=GH,country=Ghana' -r
complete -c mfa -n "__fish_mfa_using_subcommand customer; and __fish_seen_subcommand_from create" -l contact -d 'Contact, such as type=mobile,group=private,value=+233201234567; can be repeated' -r
complete -c mfa -n "__fish_mfa_using_subcommand customer; and __fish_seen_subcommand_from create" -l custom-value -d 'A value beside the fields; can be repeated' -r
complete -c mfa -n "__fish_mfa_using_subcommand customer; and __fish_seen_subcommand_from create" -l from -d 'Body of JSON or YAML, - for standard input; flags go before it' -r
complete -c mfa -n "__fish_mfa_using_subcommand customer; and __fish_seen_subcommand_from create" -l idempotency-key -d 'Key by which the daemon knows a repeated request; a new one by default' -r
complete -c mfa -n "__fish_mfa_using_subcommand customer; and __fish_seen_subcommand_from create" -l no-header -d 'Leave out the line of column names'
complete -c mfa -n "__fish_mfa_using_subcommand customer; and __fish_seen_subcommand_from create" -s y -l yes -d 'Answer yes to every confirmation [env: MFA_YES]'
complete -c mfa -n "__fish_mfa_using_subcommand customer; and __fish_seen_subcommand_from create" -l no-input -d 'Never ask; fail instead [env: MFA_NO_INPUT]'
complete -c mfa -n "__fish_mfa_using_subcommand customer; and __fish_seen_subcommand_from create" -s q -l quiet -d 'Say less [env: MFA_QUIET]'
complete -c mfa -n "__fish_mfa_using_subcommand customer; and __fish_seen_subcommand_from create" -s v -l verbose -d 'Say more'
complete -c mfa -n "__fish_mfa_using_subcommand customer; and __fish_seen_subcommand_from create" -l no-pager -d 'Never start a pager'
complete -c mfa -n "__fish_mfa_using_subcommand customer; and __fish_seen_subcommand_from create" -l no-read -d 'Do not read the record back and print it'
complete -c mfa -n "__fish_mfa_using_subcommand customer; and __fish_seen_subcommand_from create" -s h -l help -d 'Print help'
complete -c mfa -n "__fish_mfa_using_subcommand customer; and __fish_seen_subcommand_from update" -s o -l output -d 'table, wide, json, jsonl, yaml, csv, tsv or id [env: MFA_OUTPUT]' -r -f -a "table\t'Columns that fit the terminal'
wide\t'Every column, however wide'
json\t'The representation of the wire'
jsonl\t'One record a line, as it arrives'
yaml\t'The representation of the wire as YAML'
csv\t'Every column, separated by commas'
tsv\t'Every column, separated by tabs'
id\t'Identifiers only'"
complete -c mfa -n "__fish_mfa_using_subcommand customer; and __fish_seen_subcommand_from update" -l columns -d 'Columns to show, in this order' -r
complete -c mfa -n "__fish_mfa_using_subcommand customer; and __fish_seen_subcommand_from update" -l url -d 'Address of the daemon [env: MFA_URL]' -r
complete -c mfa -n "__fish_mfa_using_subcommand customer; and __fish_seen_subcommand_from update" -l color -d 'auto, always or never [env: MFA_COLOR]' -r -f -a "auto\t'On a terminal'
always\t'Always'
never\t'Never'"
complete -c mfa -n "__fish_mfa_using_subcommand customer; and __fish_seen_subcommand_from update" -l retries -d 'How often a request is repeated that found no daemon or a fault of it [env: MFA_RETRIES]' -r
complete -c mfa -n "__fish_mfa_using_subcommand customer; and __fish_seen_subcommand_from update" -l timeout-seconds -d 'Longest wait for one answer [env: MFA_TIMEOUT_SECONDS]' -r
complete -c mfa -n "__fish_mfa_using_subcommand customer; and __fish_seen_subcommand_from update" -l type -d 'PERSON or BUSINESS' -r
complete -c mfa -n "__fish_mfa_using_subcommand customer; and __fish_seen_subcommand_from update" -l given-name -d 'Given name' -r
complete -c mfa -n "__fish_mfa_using_subcommand customer; and __fish_seen_subcommand_from update" -l middle-name -d 'Middle name' -r
complete -c mfa -n "__fish_mfa_using_subcommand customer; and __fish_seen_subcommand_from update" -l surname -d 'Surname' -r
complete -c mfa -n "__fish_mfa_using_subcommand customer; and __fish_seen_subcommand_from update" -l date-of-birth -d 'Day of birth' -r
complete -c mfa -n "__fish_mfa_using_subcommand customer; and __fish_seen_subcommand_from update" -l member -d 'Whether the customer is a member of the institution' -r -f -a "true\t''
false\t''"
complete -c mfa -n "__fish_mfa_using_subcommand customer; and __fish_seen_subcommand_from update" -l account-beneficiary -d 'Who benefits from the accounts' -r
complete -c mfa -n "__fish_mfa_using_subcommand customer; and __fish_seen_subcommand_from update" -l reference-customer -d 'The customer who vouches for this one' -r
complete -c mfa -n "__fish_mfa_using_subcommand customer; and __fish_seen_subcommand_from update" -l assigned-office -d 'The office that looks after the customer' -r
complete -c mfa -n "__fish_mfa_using_subcommand customer; and __fish_seen_subcommand_from update" -l assigned-employee -d 'The employee who looks after the customer' -r
complete -c mfa -n "__fish_mfa_using_subcommand customer; and __fish_seen_subcommand_from update" -l application-date -d 'Day of the application' -r
complete -c mfa -n "__fish_mfa_using_subcommand customer; and __fish_seen_subcommand_from update" -l address -d 'Address, such as street=\'3 Hill Road\',city=Accra,country-code=GH,country=Ghana' -r
complete -c mfa -n "__fish_mfa_using_subcommand customer; and __fish_seen_subcommand_from update" -l contact -d 'Contact, such as type=mobile,group=private,value=+233201234567; can be repeated' -r
complete -c mfa -n "__fish_mfa_using_subcommand customer; and __fish_seen_subcommand_from update" -l custom-value -d 'A value beside the fields; can be repeated' -r
complete -c mfa -n "__fish_mfa_using_subcommand customer; and __fish_seen_subcommand_from update" -l from -d 'Body of JSON or YAML, - for standard input; flags go before it' -r
complete -c mfa -n "__fish_mfa_using_subcommand customer; and __fish_seen_subcommand_from update" -l clear -d 'Property to empty, such as middleName; can be repeated' -r
complete -c mfa -n "__fish_mfa_using_subcommand customer; and __fish_seen_subcommand_from update" -l idempotency-key -d 'Key by which the daemon knows a repeated request; a new one by default' -r
complete -c mfa -n "__fish_mfa_using_subcommand customer; and __fish_seen_subcommand_from update" -l no-header -d 'Leave out the line of column names'
complete -c mfa -n "__fish_mfa_using_subcommand customer; and __fish_seen_subcommand_from update" -s y -l yes -d 'Answer yes to every confirmation [env: MFA_YES]'
complete -c mfa -n "__fish_mfa_using_subcommand customer; and __fish_seen_subcommand_from update" -l no-input -d 'Never ask; fail instead [env: MFA_NO_INPUT]'
complete -c mfa -n "__fish_mfa_using_subcommand customer; and __fish_seen_subcommand_from update" -s q -l quiet -d 'Say less [env: MFA_QUIET]'
complete -c mfa -n "__fish_mfa_using_subcommand customer; and __fish_seen_subcommand_from update" -s v -l verbose -d 'Say more'
complete -c mfa -n "__fish_mfa_using_subcommand customer; and __fish_seen_subcommand_from update" -l no-pager -d 'Never start a pager'
complete -c mfa -n "__fish_mfa_using_subcommand customer; and __fish_seen_subcommand_from update" -l no-read -d 'Do not read the record back and print it'
complete -c mfa -n "__fish_mfa_using_subcommand customer; and __fish_seen_subcommand_from update" -s h -l help -d 'Print help'
complete -c mfa -n "__fish_mfa_using_subcommand customer; and __fish_seen_subcommand_from activate" -s o -l output -d 'table, wide, json, jsonl, yaml, csv, tsv or id [env: MFA_OUTPUT]' -r -f -a "table\t'Columns that fit the terminal'
wide\t'Every column, however wide'
json\t'The representation of the wire'
jsonl\t'One record a line, as it arrives'
yaml\t'The representation of the wire as YAML'
csv\t'Every column, separated by commas'
tsv\t'Every column, separated by tabs'
id\t'Identifiers only'"
complete -c mfa -n "__fish_mfa_using_subcommand customer; and __fish_seen_subcommand_from activate" -l columns -d 'Columns to show, in this order' -r
complete -c mfa -n "__fish_mfa_using_subcommand customer; and __fish_seen_subcommand_from activate" -l url -d 'Address of the daemon [env: MFA_URL]' -r
complete -c mfa -n "__fish_mfa_using_subcommand customer; and __fish_seen_subcommand_from activate" -l color -d 'auto, always or never [env: MFA_COLOR]' -r -f -a "auto\t'On a terminal'
always\t'Always'
never\t'Never'"
complete -c mfa -n "__fish_mfa_using_subcommand customer; and __fish_seen_subcommand_from activate" -l retries -d 'How often a request is repeated that found no daemon or a fault of it [env: MFA_RETRIES]' -r
complete -c mfa -n "__fish_mfa_using_subcommand customer; and __fish_seen_subcommand_from activate" -l timeout-seconds -d 'Longest wait for one answer [env: MFA_TIMEOUT_SECONDS]' -r
complete -c mfa -n "__fish_mfa_using_subcommand customer; and __fish_seen_subcommand_from activate" -l comment -d 'Why' -r
complete -c mfa -n "__fish_mfa_using_subcommand customer; and __fish_seen_subcommand_from activate" -l idempotency-key -d 'Key by which the daemon knows a repeated request; a new one by default' -r
complete -c mfa -n "__fish_mfa_using_subcommand customer; and __fish_seen_subcommand_from activate" -l no-header -d 'Leave out the line of column names'
complete -c mfa -n "__fish_mfa_using_subcommand customer; and __fish_seen_subcommand_from activate" -s y -l yes -d 'Answer yes to every confirmation [env: MFA_YES]'
complete -c mfa -n "__fish_mfa_using_subcommand customer; and __fish_seen_subcommand_from activate" -l no-input -d 'Never ask; fail instead [env: MFA_NO_INPUT]'
complete -c mfa -n "__fish_mfa_using_subcommand customer; and __fish_seen_subcommand_from activate" -s q -l quiet -d 'Say less [env: MFA_QUIET]'
complete -c mfa -n "__fish_mfa_using_subcommand customer; and __fish_seen_subcommand_from activate" -s v -l verbose -d 'Say more'
complete -c mfa -n "__fish_mfa_using_subcommand customer; and __fish_seen_subcommand_from activate" -l no-pager -d 'Never start a pager'
complete -c mfa -n "__fish_mfa_using_subcommand customer; and __fish_seen_subcommand_from activate" -l no-read -d 'Do not read the record back and print it'
complete -c mfa -n "__fish_mfa_using_subcommand customer; and __fish_seen_subcommand_from activate" -s h -l help -d 'Print help'
complete -c mfa -n "__fish_mfa_using_subcommand customer; and __fish_seen_subcommand_from lock" -s o -l output -d 'table, wide, json, jsonl, yaml, csv, tsv or id [env: MFA_OUTPUT]' -r -f -a "table\t'Columns that fit the terminal'
wide\t'Every column, however wide'
json\t'The representation of the wire'
jsonl\t'One record a line, as it arrives'
yaml\t'The representation of the wire as YAML'
csv\t'Every column, separated by commas'
tsv\t'Every column, separated by tabs'
id\t'Identifiers only'"
complete -c mfa -n "__fish_mfa_using_subcommand customer; and __fish_seen_subcommand_from lock" -l columns -d 'Columns to show, in this order' -r
complete -c mfa -n "__fish_mfa_using_subcommand customer; and __fish_seen_subcommand_from lock" -l url -d 'Address of the daemon [env: MFA_URL]' -r
complete -c mfa -n "__fish_mfa_using_subcommand customer; and __fish_seen_subcommand_from lock" -l color -d 'auto, always or never [env: MFA_COLOR]' -r -f -a "auto\t'On a terminal'
always\t'Always'
never\t'Never'"
complete -c mfa -n "__fish_mfa_using_subcommand customer; and __fish_seen_subcommand_from lock" -l retries -d 'How often a request is repeated that found no daemon or a fault of it [env: MFA_RETRIES]' -r
complete -c mfa -n "__fish_mfa_using_subcommand customer; and __fish_seen_subcommand_from lock" -l timeout-seconds -d 'Longest wait for one answer [env: MFA_TIMEOUT_SECONDS]' -r
complete -c mfa -n "__fish_mfa_using_subcommand customer; and __fish_seen_subcommand_from lock" -l comment -d 'Why' -r
complete -c mfa -n "__fish_mfa_using_subcommand customer; and __fish_seen_subcommand_from lock" -l idempotency-key -d 'Key by which the daemon knows a repeated request; a new one by default' -r
complete -c mfa -n "__fish_mfa_using_subcommand customer; and __fish_seen_subcommand_from lock" -l no-header -d 'Leave out the line of column names'
complete -c mfa -n "__fish_mfa_using_subcommand customer; and __fish_seen_subcommand_from lock" -s y -l yes -d 'Answer yes to every confirmation [env: MFA_YES]'
complete -c mfa -n "__fish_mfa_using_subcommand customer; and __fish_seen_subcommand_from lock" -l no-input -d 'Never ask; fail instead [env: MFA_NO_INPUT]'
complete -c mfa -n "__fish_mfa_using_subcommand customer; and __fish_seen_subcommand_from lock" -s q -l quiet -d 'Say less [env: MFA_QUIET]'
complete -c mfa -n "__fish_mfa_using_subcommand customer; and __fish_seen_subcommand_from lock" -s v -l verbose -d 'Say more'
complete -c mfa -n "__fish_mfa_using_subcommand customer; and __fish_seen_subcommand_from lock" -l no-pager -d 'Never start a pager'
complete -c mfa -n "__fish_mfa_using_subcommand customer; and __fish_seen_subcommand_from lock" -l no-read -d 'Do not read the record back and print it'
complete -c mfa -n "__fish_mfa_using_subcommand customer; and __fish_seen_subcommand_from lock" -s h -l help -d 'Print help'
complete -c mfa -n "__fish_mfa_using_subcommand customer; and __fish_seen_subcommand_from unlock" -s o -l output -d 'table, wide, json, jsonl, yaml, csv, tsv or id [env: MFA_OUTPUT]' -r -f -a "table\t'Columns that fit the terminal'
wide\t'Every column, however wide'
json\t'The representation of the wire'
jsonl\t'One record a line, as it arrives'
yaml\t'The representation of the wire as YAML'
csv\t'Every column, separated by commas'
tsv\t'Every column, separated by tabs'
id\t'Identifiers only'"
complete -c mfa -n "__fish_mfa_using_subcommand customer; and __fish_seen_subcommand_from unlock" -l columns -d 'Columns to show, in this order' -r
complete -c mfa -n "__fish_mfa_using_subcommand customer; and __fish_seen_subcommand_from unlock" -l url -d 'Address of the daemon [env: MFA_URL]' -r
complete -c mfa -n "__fish_mfa_using_subcommand customer; and __fish_seen_subcommand_from unlock" -l color -d 'auto, always or never [env: MFA_COLOR]' -r -f -a "auto\t'On a terminal'
always\t'Always'
never\t'Never'"
complete -c mfa -n "__fish_mfa_using_subcommand customer; and __fish_seen_subcommand_from unlock" -l retries -d 'How often a request is repeated that found no daemon or a fault of it [env: MFA_RETRIES]' -r
complete -c mfa -n "__fish_mfa_using_subcommand customer; and __fish_seen_subcommand_from unlock" -l timeout-seconds -d 'Longest wait for one answer [env: MFA_TIMEOUT_SECONDS]' -r
complete -c mfa -n "__fish_mfa_using_subcommand customer; and __fish_seen_subcommand_from unlock" -l comment -d 'Why' -r
complete -c mfa -n "__fish_mfa_using_subcommand customer; and __fish_seen_subcommand_from unlock" -l idempotency-key -d 'Key by which the daemon knows a repeated request; a new one by default' -r
complete -c mfa -n "__fish_mfa_using_subcommand customer; and __fish_seen_subcommand_from unlock" -l no-header -d 'Leave out the line of column names'
complete -c mfa -n "__fish_mfa_using_subcommand customer; and __fish_seen_subcommand_from unlock" -s y -l yes -d 'Answer yes to every confirmation [env: MFA_YES]'
complete -c mfa -n "__fish_mfa_using_subcommand customer; and __fish_seen_subcommand_from unlock" -l no-input -d 'Never ask; fail instead [env: MFA_NO_INPUT]'
complete -c mfa -n "__fish_mfa_using_subcommand customer; and __fish_seen_subcommand_from unlock" -s q -l quiet -d 'Say less [env: MFA_QUIET]'
complete -c mfa -n "__fish_mfa_using_subcommand customer; and __fish_seen_subcommand_from unlock" -s v -l verbose -d 'Say more'
complete -c mfa -n "__fish_mfa_using_subcommand customer; and __fish_seen_subcommand_from unlock" -l no-pager -d 'Never start a pager'
complete -c mfa -n "__fish_mfa_using_subcommand customer; and __fish_seen_subcommand_from unlock" -l no-read -d 'Do not read the record back and print it'
complete -c mfa -n "__fish_mfa_using_subcommand customer; and __fish_seen_subcommand_from unlock" -s h -l help -d 'Print help'
complete -c mfa -n "__fish_mfa_using_subcommand customer; and __fish_seen_subcommand_from close" -s o -l output -d 'table, wide, json, jsonl, yaml, csv, tsv or id [env: MFA_OUTPUT]' -r -f -a "table\t'Columns that fit the terminal'
wide\t'Every column, however wide'
json\t'The representation of the wire'
jsonl\t'One record a line, as it arrives'
yaml\t'The representation of the wire as YAML'
csv\t'Every column, separated by commas'
tsv\t'Every column, separated by tabs'
id\t'Identifiers only'"
complete -c mfa -n "__fish_mfa_using_subcommand customer; and __fish_seen_subcommand_from close" -l columns -d 'Columns to show, in this order' -r
complete -c mfa -n "__fish_mfa_using_subcommand customer; and __fish_seen_subcommand_from close" -l url -d 'Address of the daemon [env: MFA_URL]' -r
complete -c mfa -n "__fish_mfa_using_subcommand customer; and __fish_seen_subcommand_from close" -l color -d 'auto, always or never [env: MFA_COLOR]' -r -f -a "auto\t'On a terminal'
always\t'Always'
never\t'Never'"
complete -c mfa -n "__fish_mfa_using_subcommand customer; and __fish_seen_subcommand_from close" -l retries -d 'How often a request is repeated that found no daemon or a fault of it [env: MFA_RETRIES]' -r
complete -c mfa -n "__fish_mfa_using_subcommand customer; and __fish_seen_subcommand_from close" -l timeout-seconds -d 'Longest wait for one answer [env: MFA_TIMEOUT_SECONDS]' -r
complete -c mfa -n "__fish_mfa_using_subcommand customer; and __fish_seen_subcommand_from close" -l comment -d 'Why' -r
complete -c mfa -n "__fish_mfa_using_subcommand customer; and __fish_seen_subcommand_from close" -l idempotency-key -d 'Key by which the daemon knows a repeated request; a new one by default' -r
complete -c mfa -n "__fish_mfa_using_subcommand customer; and __fish_seen_subcommand_from close" -l no-header -d 'Leave out the line of column names'
complete -c mfa -n "__fish_mfa_using_subcommand customer; and __fish_seen_subcommand_from close" -s y -l yes -d 'Answer yes to every confirmation [env: MFA_YES]'
complete -c mfa -n "__fish_mfa_using_subcommand customer; and __fish_seen_subcommand_from close" -l no-input -d 'Never ask; fail instead [env: MFA_NO_INPUT]'
complete -c mfa -n "__fish_mfa_using_subcommand customer; and __fish_seen_subcommand_from close" -s q -l quiet -d 'Say less [env: MFA_QUIET]'
complete -c mfa -n "__fish_mfa_using_subcommand customer; and __fish_seen_subcommand_from close" -s v -l verbose -d 'Say more'
complete -c mfa -n "__fish_mfa_using_subcommand customer; and __fish_seen_subcommand_from close" -l no-pager -d 'Never start a pager'
complete -c mfa -n "__fish_mfa_using_subcommand customer; and __fish_seen_subcommand_from close" -l no-read -d 'Do not read the record back and print it'
complete -c mfa -n "__fish_mfa_using_subcommand customer; and __fish_seen_subcommand_from close" -s h -l help -d 'Print help'
complete -c mfa -n "__fish_mfa_using_subcommand customer; and __fish_seen_subcommand_from reopen" -s o -l output -d 'table, wide, json, jsonl, yaml, csv, tsv or id [env: MFA_OUTPUT]' -r -f -a "table\t'Columns that fit the terminal'
wide\t'Every column, however wide'
json\t'The representation of the wire'
jsonl\t'One record a line, as it arrives'
yaml\t'The representation of the wire as YAML'
csv\t'Every column, separated by commas'
tsv\t'Every column, separated by tabs'
id\t'Identifiers only'"
complete -c mfa -n "__fish_mfa_using_subcommand customer; and __fish_seen_subcommand_from reopen" -l columns -d 'Columns to show, in this order' -r
complete -c mfa -n "__fish_mfa_using_subcommand customer; and __fish_seen_subcommand_from reopen" -l url -d 'Address of the daemon [env: MFA_URL]' -r
complete -c mfa -n "__fish_mfa_using_subcommand customer; and __fish_seen_subcommand_from reopen" -l color -d 'auto, always or never [env: MFA_COLOR]' -r -f -a "auto\t'On a terminal'
always\t'Always'
never\t'Never'"
complete -c mfa -n "__fish_mfa_using_subcommand customer; and __fish_seen_subcommand_from reopen" -l retries -d 'How often a request is repeated that found no daemon or a fault of it [env: MFA_RETRIES]' -r
complete -c mfa -n "__fish_mfa_using_subcommand customer; and __fish_seen_subcommand_from reopen" -l timeout-seconds -d 'Longest wait for one answer [env: MFA_TIMEOUT_SECONDS]' -r
complete -c mfa -n "__fish_mfa_using_subcommand customer; and __fish_seen_subcommand_from reopen" -l comment -d 'Why' -r
complete -c mfa -n "__fish_mfa_using_subcommand customer; and __fish_seen_subcommand_from reopen" -l idempotency-key -d 'Key by which the daemon knows a repeated request; a new one by default' -r
complete -c mfa -n "__fish_mfa_using_subcommand customer; and __fish_seen_subcommand_from reopen" -l no-header -d 'Leave out the line of column names'
complete -c mfa -n "__fish_mfa_using_subcommand customer; and __fish_seen_subcommand_from reopen" -s y -l yes -d 'Answer yes to every confirmation [env: MFA_YES]'
complete -c mfa -n "__fish_mfa_using_subcommand customer; and __fish_seen_subcommand_from reopen" -l no-input -d 'Never ask; fail instead [env: MFA_NO_INPUT]'
complete -c mfa -n "__fish_mfa_using_subcommand customer; and __fish_seen_subcommand_from reopen" -s q -l quiet -d 'Say less [env: MFA_QUIET]'
complete -c mfa -n "__fish_mfa_using_subcommand customer; and __fish_seen_subcommand_from reopen" -s v -l verbose -d 'Say more'
complete -c mfa -n "__fish_mfa_using_subcommand customer; and __fish_seen_subcommand_from reopen" -l no-pager -d 'Never start a pager'
complete -c mfa -n "__fish_mfa_using_subcommand customer; and __fish_seen_subcommand_from reopen" -l no-read -d 'Do not read the record back and print it'
complete -c mfa -n "__fish_mfa_using_subcommand customer; and __fish_seen_subcommand_from reopen" -s h -l help -d 'Print help'
complete -c mfa -n "__fish_mfa_using_subcommand customer; and __fish_seen_subcommand_from commands" -s o -l output -d 'table, wide, json, jsonl, yaml, csv, tsv or id [env: MFA_OUTPUT]' -r -f -a "table\t'Columns that fit the terminal'
wide\t'Every column, however wide'
json\t'The representation of the wire'
jsonl\t'One record a line, as it arrives'
yaml\t'The representation of the wire as YAML'
csv\t'Every column, separated by commas'
tsv\t'Every column, separated by tabs'
id\t'Identifiers only'"
complete -c mfa -n "__fish_mfa_using_subcommand customer; and __fish_seen_subcommand_from commands" -l columns -d 'Columns to show, in this order' -r
complete -c mfa -n "__fish_mfa_using_subcommand customer; and __fish_seen_subcommand_from commands" -l url -d 'Address of the daemon [env: MFA_URL]' -r
complete -c mfa -n "__fish_mfa_using_subcommand customer; and __fish_seen_subcommand_from commands" -l color -d 'auto, always or never [env: MFA_COLOR]' -r -f -a "auto\t'On a terminal'
always\t'Always'
never\t'Never'"
complete -c mfa -n "__fish_mfa_using_subcommand customer; and __fish_seen_subcommand_from commands" -l retries -d 'How often a request is repeated that found no daemon or a fault of it [env: MFA_RETRIES]' -r
complete -c mfa -n "__fish_mfa_using_subcommand customer; and __fish_seen_subcommand_from commands" -l timeout-seconds -d 'Longest wait for one answer [env: MFA_TIMEOUT_SECONDS]' -r
complete -c mfa -n "__fish_mfa_using_subcommand customer; and __fish_seen_subcommand_from commands" -l no-header -d 'Leave out the line of column names'
complete -c mfa -n "__fish_mfa_using_subcommand customer; and __fish_seen_subcommand_from commands" -s y -l yes -d 'Answer yes to every confirmation [env: MFA_YES]'
complete -c mfa -n "__fish_mfa_using_subcommand customer; and __fish_seen_subcommand_from commands" -l no-input -d 'Never ask; fail instead [env: MFA_NO_INPUT]'
complete -c mfa -n "__fish_mfa_using_subcommand customer; and __fish_seen_subcommand_from commands" -s q -l quiet -d 'Say less [env: MFA_QUIET]'
complete -c mfa -n "__fish_mfa_using_subcommand customer; and __fish_seen_subcommand_from commands" -s v -l verbose -d 'Say more'
complete -c mfa -n "__fish_mfa_using_subcommand customer; and __fish_seen_subcommand_from commands" -l no-pager -d 'Never start a pager'
complete -c mfa -n "__fish_mfa_using_subcommand customer; and __fish_seen_subcommand_from commands" -s h -l help -d 'Print help'
complete -c mfa -n "__fish_mfa_using_subcommand customer; and __fish_seen_subcommand_from address" -s o -l output -d 'table, wide, json, jsonl, yaml, csv, tsv or id [env: MFA_OUTPUT]' -r -f -a "table\t'Columns that fit the terminal'
wide\t'Every column, however wide'
json\t'The representation of the wire'
jsonl\t'One record a line, as it arrives'
yaml\t'The representation of the wire as YAML'
csv\t'Every column, separated by commas'
tsv\t'Every column, separated by tabs'
id\t'Identifiers only'"
complete -c mfa -n "__fish_mfa_using_subcommand customer; and __fish_seen_subcommand_from address" -l columns -d 'Columns to show, in this order' -r
complete -c mfa -n "__fish_mfa_using_subcommand customer; and __fish_seen_subcommand_from address" -l url -d 'Address of the daemon [env: MFA_URL]' -r
complete -c mfa -n "__fish_mfa_using_subcommand customer; and __fish_seen_subcommand_from address" -l color -d 'auto, always or never [env: MFA_COLOR]' -r -f -a "auto\t'On a terminal'
always\t'Always'
never\t'Never'"
complete -c mfa -n "__fish_mfa_using_subcommand customer; and __fish_seen_subcommand_from address" -l retries -d 'How often a request is repeated that found no daemon or a fault of it [env: MFA_RETRIES]' -r
complete -c mfa -n "__fish_mfa_using_subcommand customer; and __fish_seen_subcommand_from address" -l timeout-seconds -d 'Longest wait for one answer [env: MFA_TIMEOUT_SECONDS]' -r
complete -c mfa -n "__fish_mfa_using_subcommand customer; and __fish_seen_subcommand_from address" -l no-header -d 'Leave out the line of column names'
complete -c mfa -n "__fish_mfa_using_subcommand customer; and __fish_seen_subcommand_from address" -s y -l yes -d 'Answer yes to every confirmation [env: MFA_YES]'
complete -c mfa -n "__fish_mfa_using_subcommand customer; and __fish_seen_subcommand_from address" -l no-input -d 'Never ask; fail instead [env: MFA_NO_INPUT]'
complete -c mfa -n "__fish_mfa_using_subcommand customer; and __fish_seen_subcommand_from address" -s q -l quiet -d 'Say less [env: MFA_QUIET]'
complete -c mfa -n "__fish_mfa_using_subcommand customer; and __fish_seen_subcommand_from address" -s v -l verbose -d 'Say more'
complete -c mfa -n "__fish_mfa_using_subcommand customer; and __fish_seen_subcommand_from address" -l no-pager -d 'Never start a pager'
complete -c mfa -n "__fish_mfa_using_subcommand customer; and __fish_seen_subcommand_from address" -s h -l help -d 'Print help'
complete -c mfa -n "__fish_mfa_using_subcommand customer; and __fish_seen_subcommand_from address" -f -a "set" -d 'Set the address of a customer'
complete -c mfa -n "__fish_mfa_using_subcommand customer; and __fish_seen_subcommand_from contacts" -s o -l output -d 'table, wide, json, jsonl, yaml, csv, tsv or id [env: MFA_OUTPUT]' -r -f -a "table\t'Columns that fit the terminal'
wide\t'Every column, however wide'
json\t'The representation of the wire'
jsonl\t'One record a line, as it arrives'
yaml\t'The representation of the wire as YAML'
csv\t'Every column, separated by commas'
tsv\t'Every column, separated by tabs'
id\t'Identifiers only'"
complete -c mfa -n "__fish_mfa_using_subcommand customer; and __fish_seen_subcommand_from contacts" -l columns -d 'Columns to show, in this order' -r
complete -c mfa -n "__fish_mfa_using_subcommand customer; and __fish_seen_subcommand_from contacts" -l url -d 'Address of the daemon [env: MFA_URL]' -r
complete -c mfa -n "__fish_mfa_using_subcommand customer; and __fish_seen_subcommand_from contacts" -l color -d 'auto, always or never [env: MFA_COLOR]' -r -f -a "auto\t'On a terminal'
always\t'Always'
never\t'Never'"
complete -c mfa -n "__fish_mfa_using_subcommand customer; and __fish_seen_subcommand_from contacts" -l retries -d 'How often a request is repeated that found no daemon or a fault of it [env: MFA_RETRIES]' -r
complete -c mfa -n "__fish_mfa_using_subcommand customer; and __fish_seen_subcommand_from contacts" -l timeout-seconds -d 'Longest wait for one answer [env: MFA_TIMEOUT_SECONDS]' -r
complete -c mfa -n "__fish_mfa_using_subcommand customer; and __fish_seen_subcommand_from contacts" -l no-header -d 'Leave out the line of column names'
complete -c mfa -n "__fish_mfa_using_subcommand customer; and __fish_seen_subcommand_from contacts" -s y -l yes -d 'Answer yes to every confirmation [env: MFA_YES]'
complete -c mfa -n "__fish_mfa_using_subcommand customer; and __fish_seen_subcommand_from contacts" -l no-input -d 'Never ask; fail instead [env: MFA_NO_INPUT]'
complete -c mfa -n "__fish_mfa_using_subcommand customer; and __fish_seen_subcommand_from contacts" -s q -l quiet -d 'Say less [env: MFA_QUIET]'
complete -c mfa -n "__fish_mfa_using_subcommand customer; and __fish_seen_subcommand_from contacts" -s v -l verbose -d 'Say more'
complete -c mfa -n "__fish_mfa_using_subcommand customer; and __fish_seen_subcommand_from contacts" -l no-pager -d 'Never start a pager'
complete -c mfa -n "__fish_mfa_using_subcommand customer; and __fish_seen_subcommand_from contacts" -s h -l help -d 'Print help'
complete -c mfa -n "__fish_mfa_using_subcommand customer; and __fish_seen_subcommand_from contacts" -f -a "set" -d 'Replace the contact details of a customer'
complete -c mfa -n "__fish_mfa_using_subcommand customer; and __fish_seen_subcommand_from contact" -s o -l output -d 'table, wide, json, jsonl, yaml, csv, tsv or id [env: MFA_OUTPUT]' -r -f -a "table\t'Columns that fit the terminal'
wide\t'Every column, however wide'
json\t'The representation of the wire'
jsonl\t'One record a line, as it arrives'
yaml\t'The representation of the wire as YAML'
csv\t'Every column, separated by commas'
tsv\t'Every column, separated by tabs'
id\t'Identifiers only'"
complete -c mfa -n "__fish_mfa_using_subcommand customer; and __fish_seen_subcommand_from contact" -l columns -d 'Columns to show, in this order' -r
complete -c mfa -n "__fish_mfa_using_subcommand customer; and __fish_seen_subcommand_from contact" -l url -d 'Address of the daemon [env: MFA_URL]' -r
complete -c mfa -n "__fish_mfa_using_subcommand customer; and __fish_seen_subcommand_from contact" -l color -d 'auto, always or never [env: MFA_COLOR]' -r -f -a "auto\t'On a terminal'
always\t'Always'
never\t'Never'"
complete -c mfa -n "__fish_mfa_using_subcommand customer; and __fish_seen_subcommand_from contact" -l retries -d 'How often a request is repeated that found no daemon or a fault of it [env: MFA_RETRIES]' -r
complete -c mfa -n "__fish_mfa_using_subcommand customer; and __fish_seen_subcommand_from contact" -l timeout-seconds -d 'Longest wait for one answer [env: MFA_TIMEOUT_SECONDS]' -r
complete -c mfa -n "__fish_mfa_using_subcommand customer; and __fish_seen_subcommand_from contact" -l no-header -d 'Leave out the line of column names'
complete -c mfa -n "__fish_mfa_using_subcommand customer; and __fish_seen_subcommand_from contact" -s y -l yes -d 'Answer yes to every confirmation [env: MFA_YES]'
complete -c mfa -n "__fish_mfa_using_subcommand customer; and __fish_seen_subcommand_from contact" -l no-input -d 'Never ask; fail instead [env: MFA_NO_INPUT]'
complete -c mfa -n "__fish_mfa_using_subcommand customer; and __fish_seen_subcommand_from contact" -s q -l quiet -d 'Say less [env: MFA_QUIET]'
complete -c mfa -n "__fish_mfa_using_subcommand customer; and __fish_seen_subcommand_from contact" -s v -l verbose -d 'Say more'
complete -c mfa -n "__fish_mfa_using_subcommand customer; and __fish_seen_subcommand_from contact" -l no-pager -d 'Never start a pager'
complete -c mfa -n "__fish_mfa_using_subcommand customer; and __fish_seen_subcommand_from contact" -s h -l help -d 'Print help'
complete -c mfa -n "__fish_mfa_using_subcommand customer; and __fish_seen_subcommand_from contact" -f -a "set" -d 'Replace the contact details of a customer'
complete -c mfa -n "__fish_mfa_using_subcommand status" -s o -l output -d 'table, wide, json, jsonl, yaml, csv, tsv or id [env: MFA_OUTPUT]' -r -f -a "table\t'Columns that fit the terminal'
wide\t'Every column, however wide'
json\t'The representation of the wire'
jsonl\t'One record a line, as it arrives'
yaml\t'The representation of the wire as YAML'
csv\t'Every column, separated by commas'
tsv\t'Every column, separated by tabs'
id\t'Identifiers only'"
complete -c mfa -n "__fish_mfa_using_subcommand status" -l columns -d 'Columns to show, in this order' -r
complete -c mfa -n "__fish_mfa_using_subcommand status" -l url -d 'Address of the daemon [env: MFA_URL]' -r
complete -c mfa -n "__fish_mfa_using_subcommand status" -l color -d 'auto, always or never [env: MFA_COLOR]' -r -f -a "auto\t'On a terminal'
always\t'Always'
never\t'Never'"
complete -c mfa -n "__fish_mfa_using_subcommand status" -l retries -d 'How often a request is repeated that found no daemon or a fault of it [env: MFA_RETRIES]' -r
complete -c mfa -n "__fish_mfa_using_subcommand status" -l timeout-seconds -d 'Longest wait for one answer [env: MFA_TIMEOUT_SECONDS]' -r
complete -c mfa -n "__fish_mfa_using_subcommand status" -l no-header -d 'Leave out the line of column names'
complete -c mfa -n "__fish_mfa_using_subcommand status" -s y -l yes -d 'Answer yes to every confirmation [env: MFA_YES]'
complete -c mfa -n "__fish_mfa_using_subcommand status" -l no-input -d 'Never ask; fail instead [env: MFA_NO_INPUT]'
complete -c mfa -n "__fish_mfa_using_subcommand status" -s q -l quiet -d 'Say less [env: MFA_QUIET]'
complete -c mfa -n "__fish_mfa_using_subcommand status" -s v -l verbose -d 'Say more'
complete -c mfa -n "__fish_mfa_using_subcommand status" -l no-pager -d 'Never start a pager'
complete -c mfa -n "__fish_mfa_using_subcommand status" -s h -l help -d 'Print help'
complete -c mfa -n "__fish_mfa_using_subcommand version" -s o -l output -d 'table, wide, json, jsonl, yaml, csv, tsv or id [env: MFA_OUTPUT]' -r -f -a "table\t'Columns that fit the terminal'
wide\t'Every column, however wide'
json\t'The representation of the wire'
jsonl\t'One record a line, as it arrives'
yaml\t'The representation of the wire as YAML'
csv\t'Every column, separated by commas'
tsv\t'Every column, separated by tabs'
id\t'Identifiers only'"
complete -c mfa -n "__fish_mfa_using_subcommand version" -l columns -d 'Columns to show, in this order' -r
complete -c mfa -n "__fish_mfa_using_subcommand version" -l url -d 'Address of the daemon [env: MFA_URL]' -r
complete -c mfa -n "__fish_mfa_using_subcommand version" -l color -d 'auto, always or never [env: MFA_COLOR]' -r -f -a "auto\t'On a terminal'
always\t'Always'
never\t'Never'"
complete -c mfa -n "__fish_mfa_using_subcommand version" -l retries -d 'How often a request is repeated that found no daemon or a fault of it [env: MFA_RETRIES]' -r
complete -c mfa -n "__fish_mfa_using_subcommand version" -l timeout-seconds -d 'Longest wait for one answer [env: MFA_TIMEOUT_SECONDS]' -r
complete -c mfa -n "__fish_mfa_using_subcommand version" -l no-header -d 'Leave out the line of column names'
complete -c mfa -n "__fish_mfa_using_subcommand version" -s y -l yes -d 'Answer yes to every confirmation [env: MFA_YES]'
complete -c mfa -n "__fish_mfa_using_subcommand version" -l no-input -d 'Never ask; fail instead [env: MFA_NO_INPUT]'
complete -c mfa -n "__fish_mfa_using_subcommand version" -s q -l quiet -d 'Say less [env: MFA_QUIET]'
complete -c mfa -n "__fish_mfa_using_subcommand version" -s v -l verbose -d 'Say more'
complete -c mfa -n "__fish_mfa_using_subcommand version" -l no-pager -d 'Never start a pager'
complete -c mfa -n "__fish_mfa_using_subcommand version" -s h -l help -d 'Print help'
complete -c mfa -n "__fish_mfa_using_subcommand daemon; and not __fish_seen_subcommand_from run start stop restart status logs" -s o -l output -d 'table, wide, json, jsonl, yaml, csv, tsv or id [env: MFA_OUTPUT]' -r -f -a "table\t'Columns that fit the terminal'
wide\t'Every column, however wide'
json\t'The representation of the wire'
jsonl\t'One record a line, as it arrives'
yaml\t'The representation of the wire as YAML'
csv\t'Every column, separated by commas'
tsv\t'Every column, separated by tabs'
id\t'Identifiers only'"
complete -c mfa -n "__fish_mfa_using_subcommand daemon; and not __fish_seen_subcommand_from run start stop restart status logs" -l columns -d 'Columns to show, in this order' -r
complete -c mfa -n "__fish_mfa_using_subcommand daemon; and not __fish_seen_subcommand_from run start stop restart status logs" -l url -d 'Address of the daemon [env: MFA_URL]' -r
complete -c mfa -n "__fish_mfa_using_subcommand daemon; and not __fish_seen_subcommand_from run start stop restart status logs" -l color -d 'auto, always or never [env: MFA_COLOR]' -r -f -a "auto\t'On a terminal'
always\t'Always'
never\t'Never'"
complete -c mfa -n "__fish_mfa_using_subcommand daemon; and not __fish_seen_subcommand_from run start stop restart status logs" -l retries -d 'How often a request is repeated that found no daemon or a fault of it [env: MFA_RETRIES]' -r
complete -c mfa -n "__fish_mfa_using_subcommand daemon; and not __fish_seen_subcommand_from run start stop restart status logs" -l timeout-seconds -d 'Longest wait for one answer [env: MFA_TIMEOUT_SECONDS]' -r
complete -c mfa -n "__fish_mfa_using_subcommand daemon; and not __fish_seen_subcommand_from run start stop restart status logs" -l no-header -d 'Leave out the line of column names'
complete -c mfa -n "__fish_mfa_using_subcommand daemon; and not __fish_seen_subcommand_from run start stop restart status logs" -s y -l yes -d 'Answer yes to every confirmation [env: MFA_YES]'
complete -c mfa -n "__fish_mfa_using_subcommand daemon; and not __fish_seen_subcommand_from run start stop restart status logs" -l no-input -d 'Never ask; fail instead [env: MFA_NO_INPUT]'
complete -c mfa -n "__fish_mfa_using_subcommand daemon; and not __fish_seen_subcommand_from run start stop restart status logs" -s q -l quiet -d 'Say less [env: MFA_QUIET]'
complete -c mfa -n "__fish_mfa_using_subcommand daemon; and not __fish_seen_subcommand_from run start stop restart status logs" -s v -l verbose -d 'Say more'
complete -c mfa -n "__fish_mfa_using_subcommand daemon; and not __fish_seen_subcommand_from run start stop restart status logs" -l no-pager -d 'Never start a pager'
complete -c mfa -n "__fish_mfa_using_subcommand daemon; and not __fish_seen_subcommand_from run start stop restart status logs" -s h -l help -d 'Print help'
complete -c mfa -n "__fish_mfa_using_subcommand daemon; and not __fish_seen_subcommand_from run start stop restart status logs" -f -a "run" -d 'Run the daemon in the foreground until it is told to stop'
complete -c mfa -n "__fish_mfa_using_subcommand daemon; and not __fish_seen_subcommand_from run start stop restart status logs" -f -a "start" -d 'Start the daemon in the background and wait until it serves'
complete -c mfa -n "__fish_mfa_using_subcommand daemon; and not __fish_seen_subcommand_from run start stop restart status logs" -f -a "stop" -d 'Stop the daemon in the background and wait until it is gone'
complete -c mfa -n "__fish_mfa_using_subcommand daemon; and not __fish_seen_subcommand_from run start stop restart status logs" -f -a "restart" -d 'Stop the daemon in the background and start it again as it was'
complete -c mfa -n "__fish_mfa_using_subcommand daemon; and not __fish_seen_subcommand_from run start stop restart status logs" -f -a "status" -d 'Tell whether a daemon lives at the address, and where its log is'
complete -c mfa -n "__fish_mfa_using_subcommand daemon; and not __fish_seen_subcommand_from run start stop restart status logs" -f -a "logs" -d 'Show the log of the daemon in the background'
complete -c mfa -n "__fish_mfa_using_subcommand daemon; and __fish_seen_subcommand_from run" -s o -l output -d 'table, wide, json, jsonl, yaml, csv, tsv or id [env: MFA_OUTPUT]' -r -f -a "table\t'Columns that fit the terminal'
wide\t'Every column, however wide'
json\t'The representation of the wire'
jsonl\t'One record a line, as it arrives'
yaml\t'The representation of the wire as YAML'
csv\t'Every column, separated by commas'
tsv\t'Every column, separated by tabs'
id\t'Identifiers only'"
complete -c mfa -n "__fish_mfa_using_subcommand daemon; and __fish_seen_subcommand_from run" -l columns -d 'Columns to show, in this order' -r
complete -c mfa -n "__fish_mfa_using_subcommand daemon; and __fish_seen_subcommand_from run" -l url -d 'Address of the daemon [env: MFA_URL]' -r
complete -c mfa -n "__fish_mfa_using_subcommand daemon; and __fish_seen_subcommand_from run" -l color -d 'auto, always or never [env: MFA_COLOR]' -r -f -a "auto\t'On a terminal'
always\t'Always'
never\t'Never'"
complete -c mfa -n "__fish_mfa_using_subcommand daemon; and __fish_seen_subcommand_from run" -l retries -d 'How often a request is repeated that found no daemon or a fault of it [env: MFA_RETRIES]' -r
complete -c mfa -n "__fish_mfa_using_subcommand daemon; and __fish_seen_subcommand_from run" -l timeout-seconds -d 'Longest wait for one answer [env: MFA_TIMEOUT_SECONDS]' -r
complete -c mfa -n "__fish_mfa_using_subcommand daemon; and __fish_seen_subcommand_from run" -l data-dir -d 'Folder of the store [env: MFA_DATA_DIR]' -r
complete -c mfa -n "__fish_mfa_using_subcommand daemon; and __fish_seen_subcommand_from run" -l listen -d 'Address to listen on; port 0 takes a free one [env: MFA_LISTEN]' -r
complete -c mfa -n "__fish_mfa_using_subcommand daemon; and __fish_seen_subcommand_from run" -l auth -d 'Ask callers for a token: on, or off on loopback only [env: MFA_AUTH]' -r
complete -c mfa -n "__fish_mfa_using_subcommand daemon; and __fish_seen_subcommand_from run" -l strict-references -d 'Every named office, employee and customer must exist [env: MFA_STRICT_REFERENCES]' -r
complete -c mfa -n "__fish_mfa_using_subcommand daemon; and __fish_seen_subcommand_from run" -l no-header -d 'Leave out the line of column names'
complete -c mfa -n "__fish_mfa_using_subcommand daemon; and __fish_seen_subcommand_from run" -s y -l yes -d 'Answer yes to every confirmation [env: MFA_YES]'
complete -c mfa -n "__fish_mfa_using_subcommand daemon; and __fish_seen_subcommand_from run" -l no-input -d 'Never ask; fail instead [env: MFA_NO_INPUT]'
complete -c mfa -n "__fish_mfa_using_subcommand daemon; and __fish_seen_subcommand_from run" -s q -l quiet -d 'Say less [env: MFA_QUIET]'
complete -c mfa -n "__fish_mfa_using_subcommand daemon; and __fish_seen_subcommand_from run" -s v -l verbose -d 'Say more'
complete -c mfa -n "__fish_mfa_using_subcommand daemon; and __fish_seen_subcommand_from run" -l no-pager -d 'Never start a pager'
complete -c mfa -n "__fish_mfa_using_subcommand daemon; and __fish_seen_subcommand_from run" -s h -l help -d 'Print help'
complete -c mfa -n "__fish_mfa_using_subcommand daemon; and __fish_seen_subcommand_from start" -s o -l output -d 'table, wide, json, jsonl, yaml, csv, tsv or id [env: MFA_OUTPUT]' -r -f -a "table\t'Columns that fit the terminal'
wide\t'Every column, however wide'
json\t'The representation of the wire'
jsonl\t'One record a line, as it arrives'
yaml\t'The representation of the wire as YAML'
csv\t'Every column, separated by commas'
tsv\t'Every column, separated by tabs'
id\t'Identifiers only'"
complete -c mfa -n "__fish_mfa_using_subcommand daemon; and __fish_seen_subcommand_from start" -l columns -d 'Columns to show, in this order' -r
complete -c mfa -n "__fish_mfa_using_subcommand daemon; and __fish_seen_subcommand_from start" -l url -d 'Address of the daemon [env: MFA_URL]' -r
complete -c mfa -n "__fish_mfa_using_subcommand daemon; and __fish_seen_subcommand_from start" -l color -d 'auto, always or never [env: MFA_COLOR]' -r -f -a "auto\t'On a terminal'
always\t'Always'
never\t'Never'"
complete -c mfa -n "__fish_mfa_using_subcommand daemon; and __fish_seen_subcommand_from start" -l retries -d 'How often a request is repeated that found no daemon or a fault of it [env: MFA_RETRIES]' -r
complete -c mfa -n "__fish_mfa_using_subcommand daemon; and __fish_seen_subcommand_from start" -l timeout-seconds -d 'Longest wait for one answer [env: MFA_TIMEOUT_SECONDS]' -r
complete -c mfa -n "__fish_mfa_using_subcommand daemon; and __fish_seen_subcommand_from start" -l data-dir -d 'Folder of the store [env: MFA_DATA_DIR]' -r
complete -c mfa -n "__fish_mfa_using_subcommand daemon; and __fish_seen_subcommand_from start" -l listen -d 'Address to listen on; port 0 takes a free one [env: MFA_LISTEN]' -r
complete -c mfa -n "__fish_mfa_using_subcommand daemon; and __fish_seen_subcommand_from start" -l auth -d 'Ask callers for a token: on, or off on loopback only [env: MFA_AUTH]' -r
complete -c mfa -n "__fish_mfa_using_subcommand daemon; and __fish_seen_subcommand_from start" -l strict-references -d 'Every named office, employee and customer must exist [env: MFA_STRICT_REFERENCES]' -r
complete -c mfa -n "__fish_mfa_using_subcommand daemon; and __fish_seen_subcommand_from start" -l no-header -d 'Leave out the line of column names'
complete -c mfa -n "__fish_mfa_using_subcommand daemon; and __fish_seen_subcommand_from start" -s y -l yes -d 'Answer yes to every confirmation [env: MFA_YES]'
complete -c mfa -n "__fish_mfa_using_subcommand daemon; and __fish_seen_subcommand_from start" -l no-input -d 'Never ask; fail instead [env: MFA_NO_INPUT]'
complete -c mfa -n "__fish_mfa_using_subcommand daemon; and __fish_seen_subcommand_from start" -s q -l quiet -d 'Say less [env: MFA_QUIET]'
complete -c mfa -n "__fish_mfa_using_subcommand daemon; and __fish_seen_subcommand_from start" -s v -l verbose -d 'Say more'
complete -c mfa -n "__fish_mfa_using_subcommand daemon; and __fish_seen_subcommand_from start" -l no-pager -d 'Never start a pager'
complete -c mfa -n "__fish_mfa_using_subcommand daemon; and __fish_seen_subcommand_from start" -s h -l help -d 'Print help'
complete -c mfa -n "__fish_mfa_using_subcommand daemon; and __fish_seen_subcommand_from stop" -s o -l output -d 'table, wide, json, jsonl, yaml, csv, tsv or id [env: MFA_OUTPUT]' -r -f -a "table\t'Columns that fit the terminal'
wide\t'Every column, however wide'
json\t'The representation of the wire'
jsonl\t'One record a line, as it arrives'
yaml\t'The representation of the wire as YAML'
csv\t'Every column, separated by commas'
tsv\t'Every column, separated by tabs'
id\t'Identifiers only'"
complete -c mfa -n "__fish_mfa_using_subcommand daemon; and __fish_seen_subcommand_from stop" -l columns -d 'Columns to show, in this order' -r
complete -c mfa -n "__fish_mfa_using_subcommand daemon; and __fish_seen_subcommand_from stop" -l url -d 'Address of the daemon [env: MFA_URL]' -r
complete -c mfa -n "__fish_mfa_using_subcommand daemon; and __fish_seen_subcommand_from stop" -l color -d 'auto, always or never [env: MFA_COLOR]' -r -f -a "auto\t'On a terminal'
always\t'Always'
never\t'Never'"
complete -c mfa -n "__fish_mfa_using_subcommand daemon; and __fish_seen_subcommand_from stop" -l retries -d 'How often a request is repeated that found no daemon or a fault of it [env: MFA_RETRIES]' -r
complete -c mfa -n "__fish_mfa_using_subcommand daemon; and __fish_seen_subcommand_from stop" -l timeout-seconds -d 'Longest wait for one answer [env: MFA_TIMEOUT_SECONDS]' -r
complete -c mfa -n "__fish_mfa_using_subcommand daemon; and __fish_seen_subcommand_from stop" -l data-dir -d 'Folder of the store [env: MFA_DATA_DIR]' -r
complete -c mfa -n "__fish_mfa_using_subcommand daemon; and __fish_seen_subcommand_from stop" -l listen -d 'Address to listen on; port 0 takes a free one [env: MFA_LISTEN]' -r
complete -c mfa -n "__fish_mfa_using_subcommand daemon; and __fish_seen_subcommand_from stop" -l auth -d 'Ask callers for a token: on, or off on loopback only [env: MFA_AUTH]' -r
complete -c mfa -n "__fish_mfa_using_subcommand daemon; and __fish_seen_subcommand_from stop" -l strict-references -d 'Every named office, employee and customer must exist [env: MFA_STRICT_REFERENCES]' -r
complete -c mfa -n "__fish_mfa_using_subcommand daemon; and __fish_seen_subcommand_from stop" -l no-header -d 'Leave out the line of column names'
complete -c mfa -n "__fish_mfa_using_subcommand daemon; and __fish_seen_subcommand_from stop" -s y -l yes -d 'Answer yes to every confirmation [env: MFA_YES]'
complete -c mfa -n "__fish_mfa_using_subcommand daemon; and __fish_seen_subcommand_from stop" -l no-input -d 'Never ask; fail instead [env: MFA_NO_INPUT]'
complete -c mfa -n "__fish_mfa_using_subcommand daemon; and __fish_seen_subcommand_from stop" -s q -l quiet -d 'Say less [env: MFA_QUIET]'
complete -c mfa -n "__fish_mfa_using_subcommand daemon; and __fish_seen_subcommand_from stop" -s v -l verbose -d 'Say more'
complete -c mfa -n "__fish_mfa_using_subcommand daemon; and __fish_seen_subcommand_from stop" -l no-pager -d 'Never start a pager'
complete -c mfa -n "__fish_mfa_using_subcommand daemon; and __fish_seen_subcommand_from stop" -s h -l help -d 'Print help'
complete -c mfa -n "__fish_mfa_using_subcommand daemon; and __fish_seen_subcommand_from restart" -s o -l output -d 'table, wide, json, jsonl, yaml, csv, tsv or id [env: MFA_OUTPUT]' -r -f -a "table\t'Columns that fit the terminal'
wide\t'Every column, however wide'
json\t'The representation of the wire'
jsonl\t'One record a line, as it arrives'
yaml\t'The representation of the wire as YAML'
csv\t'Every column, separated by commas'
tsv\t'Every column, separated by tabs'
id\t'Identifiers only'"
complete -c mfa -n "__fish_mfa_using_subcommand daemon; and __fish_seen_subcommand_from restart" -l columns -d 'Columns to show, in this order' -r
complete -c mfa -n "__fish_mfa_using_subcommand daemon; and __fish_seen_subcommand_from restart" -l url -d 'Address of the daemon [env: MFA_URL]' -r
complete -c mfa -n "__fish_mfa_using_subcommand daemon; and __fish_seen_subcommand_from restart" -l color -d 'auto, always or never [env: MFA_COLOR]' -r -f -a "auto\t'On a terminal'
always\t'Always'
never\t'Never'"
complete -c mfa -n "__fish_mfa_using_subcommand daemon; and __fish_seen_subcommand_from restart" -l retries -d 'How often a request is repeated that found no daemon or a fault of it [env: MFA_RETRIES]' -r
complete -c mfa -n "__fish_mfa_using_subcommand daemon; and __fish_seen_subcommand_from restart" -l timeout-seconds -d 'Longest wait for one answer [env: MFA_TIMEOUT_SECONDS]' -r
complete -c mfa -n "__fish_mfa_using_subcommand daemon; and __fish_seen_subcommand_from restart" -l data-dir -d 'Folder of the store [env: MFA_DATA_DIR]' -r
complete -c mfa -n "__fish_mfa_using_subcommand daemon; and __fish_seen_subcommand_from restart" -l listen -d 'Address to listen on; port 0 takes a free one [env: MFA_LISTEN]' -r
complete -c mfa -n "__fish_mfa_using_subcommand daemon; and __fish_seen_subcommand_from restart" -l auth -d 'Ask callers for a token: on, or off on loopback only [env: MFA_AUTH]' -r
complete -c mfa -n "__fish_mfa_using_subcommand daemon; and __fish_seen_subcommand_from restart" -l strict-references -d 'Every named office, employee and customer must exist [env: MFA_STRICT_REFERENCES]' -r
complete -c mfa -n "__fish_mfa_using_subcommand daemon; and __fish_seen_subcommand_from restart" -l no-header -d 'Leave out the line of column names'
complete -c mfa -n "__fish_mfa_using_subcommand daemon; and __fish_seen_subcommand_from restart" -s y -l yes -d 'Answer yes to every confirmation [env: MFA_YES]'
complete -c mfa -n "__fish_mfa_using_subcommand daemon; and __fish_seen_subcommand_from restart" -l no-input -d 'Never ask; fail instead [env: MFA_NO_INPUT]'
complete -c mfa -n "__fish_mfa_using_subcommand daemon; and __fish_seen_subcommand_from restart" -s q -l quiet -d 'Say less [env: MFA_QUIET]'
complete -c mfa -n "__fish_mfa_using_subcommand daemon; and __fish_seen_subcommand_from restart" -s v -l verbose -d 'Say more'
complete -c mfa -n "__fish_mfa_using_subcommand daemon; and __fish_seen_subcommand_from restart" -l no-pager -d 'Never start a pager'
complete -c mfa -n "__fish_mfa_using_subcommand daemon; and __fish_seen_subcommand_from restart" -s h -l help -d 'Print help'
complete -c mfa -n "__fish_mfa_using_subcommand daemon; and __fish_seen_subcommand_from status" -s o -l output -d 'table, wide, json, jsonl, yaml, csv, tsv or id [env: MFA_OUTPUT]' -r -f -a "table\t'Columns that fit the terminal'
wide\t'Every column, however wide'
json\t'The representation of the wire'
jsonl\t'One record a line, as it arrives'
yaml\t'The representation of the wire as YAML'
csv\t'Every column, separated by commas'
tsv\t'Every column, separated by tabs'
id\t'Identifiers only'"
complete -c mfa -n "__fish_mfa_using_subcommand daemon; and __fish_seen_subcommand_from status" -l columns -d 'Columns to show, in this order' -r
complete -c mfa -n "__fish_mfa_using_subcommand daemon; and __fish_seen_subcommand_from status" -l url -d 'Address of the daemon [env: MFA_URL]' -r
complete -c mfa -n "__fish_mfa_using_subcommand daemon; and __fish_seen_subcommand_from status" -l color -d 'auto, always or never [env: MFA_COLOR]' -r -f -a "auto\t'On a terminal'
always\t'Always'
never\t'Never'"
complete -c mfa -n "__fish_mfa_using_subcommand daemon; and __fish_seen_subcommand_from status" -l retries -d 'How often a request is repeated that found no daemon or a fault of it [env: MFA_RETRIES]' -r
complete -c mfa -n "__fish_mfa_using_subcommand daemon; and __fish_seen_subcommand_from status" -l timeout-seconds -d 'Longest wait for one answer [env: MFA_TIMEOUT_SECONDS]' -r
complete -c mfa -n "__fish_mfa_using_subcommand daemon; and __fish_seen_subcommand_from status" -l no-header -d 'Leave out the line of column names'
complete -c mfa -n "__fish_mfa_using_subcommand daemon; and __fish_seen_subcommand_from status" -s y -l yes -d 'Answer yes to every confirmation [env: MFA_YES]'
complete -c mfa -n "__fish_mfa_using_subcommand daemon; and __fish_seen_subcommand_from status" -l no-input -d 'Never ask; fail instead [env: MFA_NO_INPUT]'
complete -c mfa -n "__fish_mfa_using_subcommand daemon; and __fish_seen_subcommand_from status" -s q -l quiet -d 'Say less [env: MFA_QUIET]'
complete -c mfa -n "__fish_mfa_using_subcommand daemon; and __fish_seen_subcommand_from status" -s v -l verbose -d 'Say more'
complete -c mfa -n "__fish_mfa_using_subcommand daemon; and __fish_seen_subcommand_from status" -l no-pager -d 'Never start a pager'
complete -c mfa -n "__fish_mfa_using_subcommand daemon; and __fish_seen_subcommand_from status" -s h -l help -d 'Print help'
complete -c mfa -n "__fish_mfa_using_subcommand daemon; and __fish_seen_subcommand_from logs" -s o -l output -d 'table, wide, json, jsonl, yaml, csv, tsv or id [env: MFA_OUTPUT]' -r -f -a "table\t'Columns that fit the terminal'
wide\t'Every column, however wide'
json\t'The representation of the wire'
jsonl\t'One record a line, as it arrives'
yaml\t'The representation of the wire as YAML'
csv\t'Every column, separated by commas'
tsv\t'Every column, separated by tabs'
id\t'Identifiers only'"
complete -c mfa -n "__fish_mfa_using_subcommand daemon; and __fish_seen_subcommand_from logs" -l columns -d 'Columns to show, in this order' -r
complete -c mfa -n "__fish_mfa_using_subcommand daemon; and __fish_seen_subcommand_from logs" -l url -d 'Address of the daemon [env: MFA_URL]' -r
complete -c mfa -n "__fish_mfa_using_subcommand daemon; and __fish_seen_subcommand_from logs" -l color -d 'auto, always or never [env: MFA_COLOR]' -r -f -a "auto\t'On a terminal'
always\t'Always'
never\t'Never'"
complete -c mfa -n "__fish_mfa_using_subcommand daemon; and __fish_seen_subcommand_from logs" -l retries -d 'How often a request is repeated that found no daemon or a fault of it [env: MFA_RETRIES]' -r
complete -c mfa -n "__fish_mfa_using_subcommand daemon; and __fish_seen_subcommand_from logs" -l timeout-seconds -d 'Longest wait for one answer [env: MFA_TIMEOUT_SECONDS]' -r
complete -c mfa -n "__fish_mfa_using_subcommand daemon; and __fish_seen_subcommand_from logs" -l listen -d 'Address that the daemon listens on [env: MFA_LISTEN]' -r
complete -c mfa -n "__fish_mfa_using_subcommand daemon; and __fish_seen_subcommand_from logs" -l lines -d 'Lines to show' -r
complete -c mfa -n "__fish_mfa_using_subcommand daemon; and __fish_seen_subcommand_from logs" -l no-header -d 'Leave out the line of column names'
complete -c mfa -n "__fish_mfa_using_subcommand daemon; and __fish_seen_subcommand_from logs" -s y -l yes -d 'Answer yes to every confirmation [env: MFA_YES]'
complete -c mfa -n "__fish_mfa_using_subcommand daemon; and __fish_seen_subcommand_from logs" -l no-input -d 'Never ask; fail instead [env: MFA_NO_INPUT]'
complete -c mfa -n "__fish_mfa_using_subcommand daemon; and __fish_seen_subcommand_from logs" -s q -l quiet -d 'Say less [env: MFA_QUIET]'
complete -c mfa -n "__fish_mfa_using_subcommand daemon; and __fish_seen_subcommand_from logs" -s v -l verbose -d 'Say more'
complete -c mfa -n "__fish_mfa_using_subcommand daemon; and __fish_seen_subcommand_from logs" -l no-pager -d 'Never start a pager'
complete -c mfa -n "__fish_mfa_using_subcommand daemon; and __fish_seen_subcommand_from logs" -l follow -d 'Go on as the log grows'
complete -c mfa -n "__fish_mfa_using_subcommand daemon; and __fish_seen_subcommand_from logs" -s h -l help -d 'Print help'
complete -c mfa -n "__fish_mfa_using_subcommand init" -s o -l output -d 'table, wide, json, jsonl, yaml, csv, tsv or id [env: MFA_OUTPUT]' -r -f -a "table\t'Columns that fit the terminal'
wide\t'Every column, however wide'
json\t'The representation of the wire'
jsonl\t'One record a line, as it arrives'
yaml\t'The representation of the wire as YAML'
csv\t'Every column, separated by commas'
tsv\t'Every column, separated by tabs'
id\t'Identifiers only'"
complete -c mfa -n "__fish_mfa_using_subcommand init" -l columns -d 'Columns to show, in this order' -r
complete -c mfa -n "__fish_mfa_using_subcommand init" -l url -d 'Address of the daemon [env: MFA_URL]' -r
complete -c mfa -n "__fish_mfa_using_subcommand init" -l color -d 'auto, always or never [env: MFA_COLOR]' -r -f -a "auto\t'On a terminal'
always\t'Always'
never\t'Never'"
complete -c mfa -n "__fish_mfa_using_subcommand init" -l retries -d 'How often a request is repeated that found no daemon or a fault of it [env: MFA_RETRIES]' -r
complete -c mfa -n "__fish_mfa_using_subcommand init" -l timeout-seconds -d 'Longest wait for one answer [env: MFA_TIMEOUT_SECONDS]' -r
complete -c mfa -n "__fish_mfa_using_subcommand init" -l data-dir -d 'Folder of the store [env: MFA_DATA_DIR]' -r
complete -c mfa -n "__fish_mfa_using_subcommand init" -l admin -d 'Identifier of the first user' -r
complete -c mfa -n "__fish_mfa_using_subcommand init" -l password-file -d 'File of the first user\'s password, - for standard input [env: MFA_PASSWORD_FILE]' -r
complete -c mfa -n "__fish_mfa_using_subcommand init" -l no-header -d 'Leave out the line of column names'
complete -c mfa -n "__fish_mfa_using_subcommand init" -s y -l yes -d 'Answer yes to every confirmation [env: MFA_YES]'
complete -c mfa -n "__fish_mfa_using_subcommand init" -l no-input -d 'Never ask; fail instead [env: MFA_NO_INPUT]'
complete -c mfa -n "__fish_mfa_using_subcommand init" -s q -l quiet -d 'Say less [env: MFA_QUIET]'
complete -c mfa -n "__fish_mfa_using_subcommand init" -s v -l verbose -d 'Say more'
complete -c mfa -n "__fish_mfa_using_subcommand init" -l no-pager -d 'Never start a pager'
complete -c mfa -n "__fish_mfa_using_subcommand init" -s h -l help -d 'Print help'
complete -c mfa -n "__fish_mfa_using_subcommand dev" -s o -l output -d 'table, wide, json, jsonl, yaml, csv, tsv or id [env: MFA_OUTPUT]' -r -f -a "table\t'Columns that fit the terminal'
wide\t'Every column, however wide'
json\t'The representation of the wire'
jsonl\t'One record a line, as it arrives'
yaml\t'The representation of the wire as YAML'
csv\t'Every column, separated by commas'
tsv\t'Every column, separated by tabs'
id\t'Identifiers only'"
complete -c mfa -n "__fish_mfa_using_subcommand dev" -l columns -d 'Columns to show, in this order' -r
complete -c mfa -n "__fish_mfa_using_subcommand dev" -l url -d 'Address of the daemon [env: MFA_URL]' -r
complete -c mfa -n "__fish_mfa_using_subcommand dev" -l color -d 'auto, always or never [env: MFA_COLOR]' -r -f -a "auto\t'On a terminal'
always\t'Always'
never\t'Never'"
complete -c mfa -n "__fish_mfa_using_subcommand dev" -l retries -d 'How often a request is repeated that found no daemon or a fault of it [env: MFA_RETRIES]' -r
complete -c mfa -n "__fish_mfa_using_subcommand dev" -l timeout-seconds -d 'Longest wait for one answer [env: MFA_TIMEOUT_SECONDS]' -r
complete -c mfa -n "__fish_mfa_using_subcommand dev" -l listen -d 'Address to listen on; a free port by default' -r
complete -c mfa -n "__fish_mfa_using_subcommand dev" -l no-header -d 'Leave out the line of column names'
complete -c mfa -n "__fish_mfa_using_subcommand dev" -s y -l yes -d 'Answer yes to every confirmation [env: MFA_YES]'
complete -c mfa -n "__fish_mfa_using_subcommand dev" -l no-input -d 'Never ask; fail instead [env: MFA_NO_INPUT]'
complete -c mfa -n "__fish_mfa_using_subcommand dev" -s q -l quiet -d 'Say less [env: MFA_QUIET]'
complete -c mfa -n "__fish_mfa_using_subcommand dev" -s v -l verbose -d 'Say more'
complete -c mfa -n "__fish_mfa_using_subcommand dev" -l no-pager -d 'Never start a pager'
complete -c mfa -n "__fish_mfa_using_subcommand dev" -s h -l help -d 'Print help'
complete -c mfa -n "__fish_mfa_using_subcommand config; and not __fish_seen_subcommand_from view path" -s o -l output -d 'table, wide, json, jsonl, yaml, csv, tsv or id [env: MFA_OUTPUT]' -r -f -a "table\t'Columns that fit the terminal'
wide\t'Every column, however wide'
json\t'The representation of the wire'
jsonl\t'One record a line, as it arrives'
yaml\t'The representation of the wire as YAML'
csv\t'Every column, separated by commas'
tsv\t'Every column, separated by tabs'
id\t'Identifiers only'"
complete -c mfa -n "__fish_mfa_using_subcommand config; and not __fish_seen_subcommand_from view path" -l columns -d 'Columns to show, in this order' -r
complete -c mfa -n "__fish_mfa_using_subcommand config; and not __fish_seen_subcommand_from view path" -l url -d 'Address of the daemon [env: MFA_URL]' -r
complete -c mfa -n "__fish_mfa_using_subcommand config; and not __fish_seen_subcommand_from view path" -l color -d 'auto, always or never [env: MFA_COLOR]' -r -f -a "auto\t'On a terminal'
always\t'Always'
never\t'Never'"
complete -c mfa -n "__fish_mfa_using_subcommand config; and not __fish_seen_subcommand_from view path" -l retries -d 'How often a request is repeated that found no daemon or a fault of it [env: MFA_RETRIES]' -r
complete -c mfa -n "__fish_mfa_using_subcommand config; and not __fish_seen_subcommand_from view path" -l timeout-seconds -d 'Longest wait for one answer [env: MFA_TIMEOUT_SECONDS]' -r
complete -c mfa -n "__fish_mfa_using_subcommand config; and not __fish_seen_subcommand_from view path" -l no-header -d 'Leave out the line of column names'
complete -c mfa -n "__fish_mfa_using_subcommand config; and not __fish_seen_subcommand_from view path" -s y -l yes -d 'Answer yes to every confirmation [env: MFA_YES]'
complete -c mfa -n "__fish_mfa_using_subcommand config; and not __fish_seen_subcommand_from view path" -l no-input -d 'Never ask; fail instead [env: MFA_NO_INPUT]'
complete -c mfa -n "__fish_mfa_using_subcommand config; and not __fish_seen_subcommand_from view path" -s q -l quiet -d 'Say less [env: MFA_QUIET]'
complete -c mfa -n "__fish_mfa_using_subcommand config; and not __fish_seen_subcommand_from view path" -s v -l verbose -d 'Say more'
complete -c mfa -n "__fish_mfa_using_subcommand config; and not __fish_seen_subcommand_from view path" -l no-pager -d 'Never start a pager'
complete -c mfa -n "__fish_mfa_using_subcommand config; and not __fish_seen_subcommand_from view path" -s h -l help -d 'Print help'
complete -c mfa -n "__fish_mfa_using_subcommand config; and not __fish_seen_subcommand_from view path" -f -a "view" -d 'Show every setting'
complete -c mfa -n "__fish_mfa_using_subcommand config; and not __fish_seen_subcommand_from view path" -f -a "path" -d 'Show where config files are looked for, the system\'s first'
complete -c mfa -n "__fish_mfa_using_subcommand config; and __fish_seen_subcommand_from view" -s o -l output -d 'table, wide, json, jsonl, yaml, csv, tsv or id [env: MFA_OUTPUT]' -r -f -a "table\t'Columns that fit the terminal'
wide\t'Every column, however wide'
json\t'The representation of the wire'
jsonl\t'One record a line, as it arrives'
yaml\t'The representation of the wire as YAML'
csv\t'Every column, separated by commas'
tsv\t'Every column, separated by tabs'
id\t'Identifiers only'"
complete -c mfa -n "__fish_mfa_using_subcommand config; and __fish_seen_subcommand_from view" -l columns -d 'Columns to show, in this order' -r
complete -c mfa -n "__fish_mfa_using_subcommand config; and __fish_seen_subcommand_from view" -l url -d 'Address of the daemon [env: MFA_URL]' -r
complete -c mfa -n "__fish_mfa_using_subcommand config; and __fish_seen_subcommand_from view" -l color -d 'auto, always or never [env: MFA_COLOR]' -r -f -a "auto\t'On a terminal'
always\t'Always'
never\t'Never'"
complete -c mfa -n "__fish_mfa_using_subcommand config; and __fish_seen_subcommand_from view" -l retries -d 'How often a request is repeated that found no daemon or a fault of it [env: MFA_RETRIES]' -r
complete -c mfa -n "__fish_mfa_using_subcommand config; and __fish_seen_subcommand_from view" -l timeout-seconds -d 'Longest wait for one answer [env: MFA_TIMEOUT_SECONDS]' -r
complete -c mfa -n "__fish_mfa_using_subcommand config; and __fish_seen_subcommand_from view" -l no-header -d 'Leave out the line of column names'
complete -c mfa -n "__fish_mfa_using_subcommand config; and __fish_seen_subcommand_from view" -s y -l yes -d 'Answer yes to every confirmation [env: MFA_YES]'
complete -c mfa -n "__fish_mfa_using_subcommand config; and __fish_seen_subcommand_from view" -l no-input -d 'Never ask; fail instead [env: MFA_NO_INPUT]'
complete -c mfa -n "__fish_mfa_using_subcommand config; and __fish_seen_subcommand_from view" -s q -l quiet -d 'Say less [env: MFA_QUIET]'
complete -c mfa -n "__fish_mfa_using_subcommand config; and __fish_seen_subcommand_from view" -s v -l verbose -d 'Say more'
complete -c mfa -n "__fish_mfa_using_subcommand config; and __fish_seen_subcommand_from view" -l no-pager -d 'Never start a pager'
complete -c mfa -n "__fish_mfa_using_subcommand config; and __fish_seen_subcommand_from view" -l origin -d 'Show where each value came from'
complete -c mfa -n "__fish_mfa_using_subcommand config; and __fish_seen_subcommand_from view" -s h -l help -d 'Print help'
complete -c mfa -n "__fish_mfa_using_subcommand config; and __fish_seen_subcommand_from path" -s o -l output -d 'table, wide, json, jsonl, yaml, csv, tsv or id [env: MFA_OUTPUT]' -r -f -a "table\t'Columns that fit the terminal'
wide\t'Every column, however wide'
json\t'The representation of the wire'
jsonl\t'One record a line, as it arrives'
yaml\t'The representation of the wire as YAML'
csv\t'Every column, separated by commas'
tsv\t'Every column, separated by tabs'
id\t'Identifiers only'"
complete -c mfa -n "__fish_mfa_using_subcommand config; and __fish_seen_subcommand_from path" -l columns -d 'Columns to show, in this order' -r
complete -c mfa -n "__fish_mfa_using_subcommand config; and __fish_seen_subcommand_from path" -l url -d 'Address of the daemon [env: MFA_URL]' -r
complete -c mfa -n "__fish_mfa_using_subcommand config; and __fish_seen_subcommand_from path" -l color -d 'auto, always or never [env: MFA_COLOR]' -r -f -a "auto\t'On a terminal'
always\t'Always'
never\t'Never'"
complete -c mfa -n "__fish_mfa_using_subcommand config; and __fish_seen_subcommand_from path" -l retries -d 'How often a request is repeated that found no daemon or a fault of it [env: MFA_RETRIES]' -r
complete -c mfa -n "__fish_mfa_using_subcommand config; and __fish_seen_subcommand_from path" -l timeout-seconds -d 'Longest wait for one answer [env: MFA_TIMEOUT_SECONDS]' -r
complete -c mfa -n "__fish_mfa_using_subcommand config; and __fish_seen_subcommand_from path" -l no-header -d 'Leave out the line of column names'
complete -c mfa -n "__fish_mfa_using_subcommand config; and __fish_seen_subcommand_from path" -s y -l yes -d 'Answer yes to every confirmation [env: MFA_YES]'
complete -c mfa -n "__fish_mfa_using_subcommand config; and __fish_seen_subcommand_from path" -l no-input -d 'Never ask; fail instead [env: MFA_NO_INPUT]'
complete -c mfa -n "__fish_mfa_using_subcommand config; and __fish_seen_subcommand_from path" -s q -l quiet -d 'Say less [env: MFA_QUIET]'
complete -c mfa -n "__fish_mfa_using_subcommand config; and __fish_seen_subcommand_from path" -s v -l verbose -d 'Say more'
complete -c mfa -n "__fish_mfa_using_subcommand config; and __fish_seen_subcommand_from path" -l no-pager -d 'Never start a pager'
complete -c mfa -n "__fish_mfa_using_subcommand config; and __fish_seen_subcommand_from path" -s h -l help -d 'Print help'
complete -c mfa -n "__fish_mfa_using_subcommand explain" -s o -l output -d 'table, wide, json, jsonl, yaml, csv, tsv or id [env: MFA_OUTPUT]' -r -f -a "table\t'Columns that fit the terminal'
wide\t'Every column, however wide'
json\t'The representation of the wire'
jsonl\t'One record a line, as it arrives'
yaml\t'The representation of the wire as YAML'
csv\t'Every column, separated by commas'
tsv\t'Every column, separated by tabs'
id\t'Identifiers only'"
complete -c mfa -n "__fish_mfa_using_subcommand explain" -l columns -d 'Columns to show, in this order' -r
complete -c mfa -n "__fish_mfa_using_subcommand explain" -l url -d 'Address of the daemon [env: MFA_URL]' -r
complete -c mfa -n "__fish_mfa_using_subcommand explain" -l color -d 'auto, always or never [env: MFA_COLOR]' -r -f -a "auto\t'On a terminal'
always\t'Always'
never\t'Never'"
complete -c mfa -n "__fish_mfa_using_subcommand explain" -l retries -d 'How often a request is repeated that found no daemon or a fault of it [env: MFA_RETRIES]' -r
complete -c mfa -n "__fish_mfa_using_subcommand explain" -l timeout-seconds -d 'Longest wait for one answer [env: MFA_TIMEOUT_SECONDS]' -r
complete -c mfa -n "__fish_mfa_using_subcommand explain" -l no-header -d 'Leave out the line of column names'
complete -c mfa -n "__fish_mfa_using_subcommand explain" -s y -l yes -d 'Answer yes to every confirmation [env: MFA_YES]'
complete -c mfa -n "__fish_mfa_using_subcommand explain" -l no-input -d 'Never ask; fail instead [env: MFA_NO_INPUT]'
complete -c mfa -n "__fish_mfa_using_subcommand explain" -s q -l quiet -d 'Say less [env: MFA_QUIET]'
complete -c mfa -n "__fish_mfa_using_subcommand explain" -s v -l verbose -d 'Say more'
complete -c mfa -n "__fish_mfa_using_subcommand explain" -l no-pager -d 'Never start a pager'
complete -c mfa -n "__fish_mfa_using_subcommand explain" -s h -l help -d 'Print help'
complete -c mfa -n "__fish_mfa_using_subcommand help" -s o -l output -d 'table, wide, json, jsonl, yaml, csv, tsv or id [env: MFA_OUTPUT]' -r -f -a "table\t'Columns that fit the terminal'
wide\t'Every column, however wide'
json\t'The representation of the wire'
jsonl\t'One record a line, as it arrives'
yaml\t'The representation of the wire as YAML'
csv\t'Every column, separated by commas'
tsv\t'Every column, separated by tabs'
id\t'Identifiers only'"
complete -c mfa -n "__fish_mfa_using_subcommand help" -l columns -d 'Columns to show, in this order' -r
complete -c mfa -n "__fish_mfa_using_subcommand help" -l url -d 'Address of the daemon [env: MFA_URL]' -r
complete -c mfa -n "__fish_mfa_using_subcommand help" -l color -d 'auto, always or never [env: MFA_COLOR]' -r -f -a "auto\t'On a terminal'
always\t'Always'
never\t'Never'"
complete -c mfa -n "__fish_mfa_using_subcommand help" -l retries -d 'How often a request is repeated that found no daemon or a fault of it [env: MFA_RETRIES]' -r
complete -c mfa -n "__fish_mfa_using_subcommand help" -l timeout-seconds -d 'Longest wait for one answer [env: MFA_TIMEOUT_SECONDS]' -r
complete -c mfa -n "__fish_mfa_using_subcommand help" -l no-header -d 'Leave out the line of column names'
complete -c mfa -n "__fish_mfa_using_subcommand help" -s y -l yes -d 'Answer yes to every confirmation [env: MFA_YES]'
complete -c mfa -n "__fish_mfa_using_subcommand help" -l no-input -d 'Never ask; fail instead [env: MFA_NO_INPUT]'
complete -c mfa -n "__fish_mfa_using_subcommand help" -s q -l quiet -d 'Say less [env: MFA_QUIET]'
complete -c mfa -n "__fish_mfa_using_subcommand help" -s v -l verbose -d 'Say more'
complete -c mfa -n "__fish_mfa_using_subcommand help" -l no-pager -d 'Never start a pager'
complete -c mfa -n "__fish_mfa_using_subcommand help" -s h -l help -d 'Print help'
complete -c mfa -n "__fish_mfa_using_subcommand completions" -s o -l output -d 'table, wide, json, jsonl, yaml, csv, tsv or id [env: MFA_OUTPUT]' -r -f -a "table\t'Columns that fit the terminal'
wide\t'Every column, however wide'
json\t'The representation of the wire'
jsonl\t'One record a line, as it arrives'
yaml\t'The representation of the wire as YAML'
csv\t'Every column, separated by commas'
tsv\t'Every column, separated by tabs'
id\t'Identifiers only'"
complete -c mfa -n "__fish_mfa_using_subcommand completions" -l columns -d 'Columns to show, in this order' -r
complete -c mfa -n "__fish_mfa_using_subcommand completions" -l url -d 'Address of the daemon [env: MFA_URL]' -r
complete -c mfa -n "__fish_mfa_using_subcommand completions" -l color -d 'auto, always or never [env: MFA_COLOR]' -r -f -a "auto\t'On a terminal'
always\t'Always'
never\t'Never'"
complete -c mfa -n "__fish_mfa_using_subcommand completions" -l retries -d 'How often a request is repeated that found no daemon or a fault of it [env: MFA_RETRIES]' -r
complete -c mfa -n "__fish_mfa_using_subcommand completions" -l timeout-seconds -d 'Longest wait for one answer [env: MFA_TIMEOUT_SECONDS]' -r
complete -c mfa -n "__fish_mfa_using_subcommand completions" -l no-header -d 'Leave out the line of column names'
complete -c mfa -n "__fish_mfa_using_subcommand completions" -s y -l yes -d 'Answer yes to every confirmation [env: MFA_YES]'
complete -c mfa -n "__fish_mfa_using_subcommand completions" -l no-input -d 'Never ask; fail instead [env: MFA_NO_INPUT]'
complete -c mfa -n "__fish_mfa_using_subcommand completions" -s q -l quiet -d 'Say less [env: MFA_QUIET]'
complete -c mfa -n "__fish_mfa_using_subcommand completions" -s v -l verbose -d 'Say more'
complete -c mfa -n "__fish_mfa_using_subcommand completions" -l no-pager -d 'Never start a pager'
complete -c mfa -n "__fish_mfa_using_subcommand completions" -s h -l help -d 'Print help'
complete -c mfa -n "__fish_mfa_using_subcommand commands" -s o -l output -d 'table, wide, json, jsonl, yaml, csv, tsv or id [env: MFA_OUTPUT]' -r -f -a "table\t'Columns that fit the terminal'
wide\t'Every column, however wide'
json\t'The representation of the wire'
jsonl\t'One record a line, as it arrives'
yaml\t'The representation of the wire as YAML'
csv\t'Every column, separated by commas'
tsv\t'Every column, separated by tabs'
id\t'Identifiers only'"
complete -c mfa -n "__fish_mfa_using_subcommand commands" -l columns -d 'Columns to show, in this order' -r
complete -c mfa -n "__fish_mfa_using_subcommand commands" -l url -d 'Address of the daemon [env: MFA_URL]' -r
complete -c mfa -n "__fish_mfa_using_subcommand commands" -l color -d 'auto, always or never [env: MFA_COLOR]' -r -f -a "auto\t'On a terminal'
always\t'Always'
never\t'Never'"
complete -c mfa -n "__fish_mfa_using_subcommand commands" -l retries -d 'How often a request is repeated that found no daemon or a fault of it [env: MFA_RETRIES]' -r
complete -c mfa -n "__fish_mfa_using_subcommand commands" -l timeout-seconds -d 'Longest wait for one answer [env: MFA_TIMEOUT_SECONDS]' -r
complete -c mfa -n "__fish_mfa_using_subcommand commands" -l no-header -d 'Leave out the line of column names'
complete -c mfa -n "__fish_mfa_using_subcommand commands" -s y -l yes -d 'Answer yes to every confirmation [env: MFA_YES]'
complete -c mfa -n "__fish_mfa_using_subcommand commands" -l no-input -d 'Never ask; fail instead [env: MFA_NO_INPUT]'
complete -c mfa -n "__fish_mfa_using_subcommand commands" -s q -l quiet -d 'Say less [env: MFA_QUIET]'
complete -c mfa -n "__fish_mfa_using_subcommand commands" -s v -l verbose -d 'Say more'
complete -c mfa -n "__fish_mfa_using_subcommand commands" -l no-pager -d 'Never start a pager'
complete -c mfa -n "__fish_mfa_using_subcommand commands" -s h -l help -d 'Print help'
complete -c mfa -n "__fish_mfa_using_subcommand docs" -s o -l output -d 'table, wide, json, jsonl, yaml, csv, tsv or id [env: MFA_OUTPUT]' -r -f -a "table\t'Columns that fit the terminal'
wide\t'Every column, however wide'
json\t'The representation of the wire'
jsonl\t'One record a line, as it arrives'
yaml\t'The representation of the wire as YAML'
csv\t'Every column, separated by commas'
tsv\t'Every column, separated by tabs'
id\t'Identifiers only'"
complete -c mfa -n "__fish_mfa_using_subcommand docs" -l columns -d 'Columns to show, in this order' -r
complete -c mfa -n "__fish_mfa_using_subcommand docs" -l url -d 'Address of the daemon [env: MFA_URL]' -r
complete -c mfa -n "__fish_mfa_using_subcommand docs" -l color -d 'auto, always or never [env: MFA_COLOR]' -r -f -a "auto\t'On a terminal'
always\t'Always'
never\t'Never'"
complete -c mfa -n "__fish_mfa_using_subcommand docs" -l retries -d 'How often a request is repeated that found no daemon or a fault of it [env: MFA_RETRIES]' -r
complete -c mfa -n "__fish_mfa_using_subcommand docs" -l timeout-seconds -d 'Longest wait for one answer [env: MFA_TIMEOUT_SECONDS]' -r
complete -c mfa -n "__fish_mfa_using_subcommand docs" -l out -d 'Folder that holds man/ and completions/' -r
complete -c mfa -n "__fish_mfa_using_subcommand docs" -l no-header -d 'Leave out the line of column names'
complete -c mfa -n "__fish_mfa_using_subcommand docs" -s y -l yes -d 'Answer yes to every confirmation [env: MFA_YES]'
complete -c mfa -n "__fish_mfa_using_subcommand docs" -l no-input -d 'Never ask; fail instead [env: MFA_NO_INPUT]'
complete -c mfa -n "__fish_mfa_using_subcommand docs" -s q -l quiet -d 'Say less [env: MFA_QUIET]'
complete -c mfa -n "__fish_mfa_using_subcommand docs" -s v -l verbose -d 'Say more'
complete -c mfa -n "__fish_mfa_using_subcommand docs" -l no-pager -d 'Never start a pager'
complete -c mfa -n "__fish_mfa_using_subcommand docs" -l check -d 'Change nothing; fail if a file is not as it would be written'
complete -c mfa -n "__fish_mfa_using_subcommand docs" -s h -l help -d 'Print help'
