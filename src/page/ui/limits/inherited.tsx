import { useId, type ReactNode } from 'react';
import { t } from '../../language/t.ts';
import { baseName, inheritedText, useLimits } from './context.tsx';
import { SettingFrame, useSaved } from './setting.tsx';

export interface InheritedProps<Value> {
  readonly label: string;
  readonly hint: string;
  /** Undefined: as it is inherited. */
  readonly own: Value | undefined;
  readonly effective: Value;
  readonly base: Value;
  /** Null where it was taken, else why not. */
  readonly save: (value: Value | undefined) => Promise<string | null>;
  /** A value as it stands in a sentence. */
  readonly wordOf: (value: Value) => string;
  readonly children: (field: {
    readonly id: string;
    /** Ids of what describes it. */
    readonly describedBy: string;
    readonly value: Value;
    readonly set: (value: Value | undefined) => void;
  }) => ReactNode;
}

/** One setting over what is inherited: saved as it is changed, and set back. */
export function Inherited<Value>({ label, hint, own, effective, base, save, wordOf, children }: InheritedProps<Value>) {
  const id = useId();
  const { scope } = useLimits();
  const saved = useSaved<Value>({ own, save });
  return (
    <SettingFrame
      legend={label}
      hint={hint}
      saved={saved}
      describedBy={id}
      inherited={{
        text: own === undefined ? inheritedText(scope) : '',
        back: own === undefined ? null : () => void saved.set(undefined),
        backLabel: t`Set back to ${baseName(scope)}, ${wordOf(base)}`,
      }}
    >
      {children({
        id,
        describedBy: `${id}-hint ${id}-from ${id}-state`,
        value: saved.saving ? (saved.saving.value ?? base) : effective,
        set: (value) => void saved.set(value),
      })}
    </SettingFrame>
  );
}
