/** What agents may do while they have a task of the project. */
import { useId } from 'react';
import type { CommandGrant } from '../../../shared/protocol/attempts.ts';
import { t } from '../../language/t.ts';
import { projectsOf } from '../../state/projects.ts';
import { useRoost } from '../context.tsx';
import { WrongNote } from '../design/field.tsx';
import { useAction } from '../design/use-action.ts';
import { COMMANDS } from '../text/value-names.ts';
import { useBoard } from './board.ts';

interface Props {
  readonly chosen: CommandGrant;
  readonly onChange: (grant: CommandGrant) => void;
}

export function CommandChoice({ chosen, onChange }: Props) {
  const name = useId();
  return (
    <fieldset className="stack gap-1">
      <legend className="under-3">{t`Agents may`}</legend>
      {/* `own`: a project that was made by a program, or before this was asked. */}
      {COMMANDS.filter(([grant]) => grant !== 'own' || chosen === 'own').map(([grant, text]) => (
        <label key={grant} className="tick-line">
          <input type="radio" name={name} checked={chosen === grant} onChange={() => onChange(grant)} />
          <span>{text}</span>
        </label>
      ))}
    </fieldset>
  );
}

/** Says that agents may run no commands here, with the way to allow it. Nothing where they may. */
export function AllowCommands() {
  const projects = projectsOf(useRoost());
  const { project, away } = useBoard();
  const { busy, failed, act } = useAction();
  if (project.kind !== 'git' || project.commands !== 'none') return null;
  return (
    <>
      <p className="setting-hint line gap-4 wrap">
        {t`Agents run no commands in this project.`}{' '}
        <button
          type="button"
          className="ghost"
          disabled={away || busy}
          onClick={() => act(() => projects.change(project, { commands: 'sandbox' }))}
        >{t`Allow in a sandbox`}</button>
      </p>
      <WrongNote text={failed} />
    </>
  );
}
