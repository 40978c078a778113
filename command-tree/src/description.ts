export interface OptionDescription {
  readonly name: string;
  /** Placeholder of the value in the help; null for a flag. */
  readonly value: string | null;
  readonly summary: string;
  readonly choices?: readonly string[];
  readonly required?: boolean;
  /** Value without the option; the summary says where it comes from. */
  readonly defaultValue?: string;
}

export interface ArgumentDescription {
  readonly name: string;
  readonly summary: string;
  readonly choices?: readonly string[];
  readonly optional?: boolean;
}

/** A command as data: parsing, help, completion and the docs page are generated from it. */
export interface CommandDescription {
  /** One or two words, as typed: `listen`, `payins create`. */
  readonly name: string;
  /** One line, without a period. */
  readonly summary: string;
  /** The text after the program's name, one line per form. By default it lists arguments and required options. */
  readonly usage?: string;
  readonly options: readonly OptionDescription[];
  readonly args: readonly ArgumentDescription[];
  readonly details?: string;
  readonly examples: readonly string[];
}

/** A program: its commands and the texts of its help. */
export interface Program<D extends CommandDescription> {
  readonly name: string;
  readonly commands: readonly D[];
  /** Accepted by every command, before or after its name. */
  readonly globalOptions: readonly OptionDescription[];
  /** Whether another program parses the arguments of a command; this one only shows its help. */
  readonly isForwarded?: (command: D) => boolean;
  readonly help: HelpTexts;
}

export interface HelpTexts {
  readonly width: number;
  readonly intro: string;
  /** Summary of the option --help. */
  readonly helpOption: string;
  /** The list of commands in the help of the program. */
  readonly overview: readonly OverviewRow[];
  /** Text below the overview. */
  readonly closing: string;
  /** Summaries of first words that several commands share. */
  readonly groups: Readonly<Record<string, string>>;
}

export interface OverviewRow {
  readonly heading: string;
  readonly name: string;
  readonly summary: string;
}
