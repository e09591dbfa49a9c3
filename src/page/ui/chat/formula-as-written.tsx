import type { Formula } from './parser.ts';

/**
 * The source of a formula. `waits`: it will be rendered in a moment and reserves its room until
 * then. `problem`: why it cannot be rendered.
 */
export function AsWritten({ tex, apart, waits = false, problem }: Formula & { waits?: boolean; problem?: string }) {
  return (
    <code className="md-formula" data-apart={apart} data-waits={waits} title={problem}>
      {tex}
    </code>
  );
}
