import { t } from '../../language/t.ts';
import type { Done } from '../../state/actions/parts.ts';
import { useLive, useRoost } from '../context.tsx';

interface Change {
  readonly label: string;
  readonly save: () => Promise<Done>;
  /** Restores the value from before. */
  readonly undo: () => Promise<Done>;
  /** The relay reads it when a session starts. */
  readonly atSessionStart?: boolean;
}

/** Saves a setting, and says so with an undo, wherever the person is by then. */
export function useTold(): (change: Change) => Promise<void> {
  const { notices } = useRoost();
  const inSession = useLive(({ live }) => live !== null);
  const said = ({ ok, ...done }: Done, text: string, undo?: () => void) => {
    if (!ok && 'reason' in done) notices.error(t`Could not save this. ${done.reason}`);
    else notices.info(text, undo && { label: t`Undo`, run: undo });
  };
  return async ({ label, save, undo, atSessionStart = false }) => {
    const text =
      atSessionStart && inSession
        ? t`${label} saved. It applies from the next session.`
        : t`${label} saved. It applies now.`;
    said(await save(), text, () => void undo().then((done) => said(done, t`${label} is as it was.`)));
  };
}
