import type { Formula } from './parser.ts';

/**
 * A formula as its writer wrote it. `waits`: it is set in a moment, and keeps its room until then.
 * `problem`: why it cannot be set.
 */
export function AsWritten({ tex, apart, waits = false, problem }: Formula & { waits?: boolean; problem?: string }) {
  return (
    <code className="md-formula" data-apart={apart} data-waits={waits} title={problem}>
      {tex}
    </code>
  );
}
