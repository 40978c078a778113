import type { CommandDescription } from '@caudal/command-tree';

/** A command as a file of this folder describes it. */
export interface CatalogEntry extends Partial<CommandDescription> {
  readonly name: string;
  readonly summary: string;
  readonly usage: string;
  readonly examples: readonly string[];
  /**
   * `none`: it changes nothing, and its transactions are read-only. `with_change`: the audit row commits with the change.
   * `before_and_after`: it cannot run in one transaction and writes an audit row before and after.
   */
  readonly audit: 'none' | 'with_change' | 'before_and_after';
  /** The command makes a change, and needs `--by`, only with one of these options. */
  readonly changesWith?: readonly string[];
}
