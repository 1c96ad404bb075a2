# Completion of mfa for PowerShell: run this file from $PROFILE.
Register-ArgumentCompleter -Native -CommandName mfa, mfactl -ScriptBlock {
    param($word, $line, $position)
    $program = $line.CommandElements[0].ToString()
    $words = @($line.CommandElements | Select-Object -Skip 1 | ForEach-Object { $_.ToString() })
    if ($word -eq '') { $words += '' }
    $found = @(& $program complete -q -o tsv --no-header -- @words 2>$null)
    # PowerShell looks for files by itself where it is given nothing, and not where it is given an empty text.
    if ($found -match ':files') { return }
    if ($found.Count -eq 0) { return '' }
    $found | ForEach-Object {
        $value, $help = $_ -split "`t", 2
        if (-not $help) { $help = $value }
        [System.Management.Automation.CompletionResult]::new($value, $value, 'ParameterValue', $help)
    }
}
