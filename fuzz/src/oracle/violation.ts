/** The rules that every response must keep. */
export type Rule =
  | 'no answer'
  | 'undocumented status'
  | 'server error'
  | 'undocumented content type'
  | 'invalid problem'
  | 'undocumented problem code'
  | 'schema'
  | 'internal detail'
  | 'foreign data'
  | 'unescaped text'
  | 'slow';

export interface Violation {
  readonly rule: Rule;
  readonly detail: string;
}
