/**
 * The choice of columns from which a routine takes tasks. The projects of a routine have different
 * columns, so it names them by name or kind. Agents take tasks from columns that are ready.
 */
import { useState } from 'react';
import type { AgentId } from '../../../shared/domain/ids.ts';
import { COLUMN_KINDS, type Column } from '../../../shared/domain/projects.ts';
import { SCHEDULE_BOUNDS } from '../../../shared/protocol/schedules.ts';
import { t } from '../../language/t.ts';
import { projectsOf } from '../../state/projects.ts';
import { useRoost } from '../context.tsx';
import { useQuery } from '../hooks.ts';
import { KIND_NAMES } from '../projects/words.ts';
import { asBeginning } from '../text/sizes.ts';
import { SelectField } from '../design/field.tsx';

/** A kind names all columns of that kind, for the relay too. */
const READY = 'ready';
/** A name that is too long is told by the id. */
const nameOf = ({ columnId, name }: Column) => (name.trim().length <= SCHEDULE_BOUNDS.column ? name.trim() : columnId);
const isSame = (one: string, other: string) => one.toLowerCase() === other.toLowerCase();
const isKind = (said: string) => COLUMN_KINDS.find((kind) => kind === said);

interface ColumnsFieldProps {
  readonly agentId: AgentId;
  /** Ids, names or kinds; null: not set; empty: none. */
  readonly columns: readonly string[] | null;
  readonly onColumns: (columns: readonly string[] | null) => void;
  readonly wrong: string | undefined;
}

export function ColumnsField({ agentId, columns, onColumns, wrong }: ColumnsFieldProps) {
  const projects = useQuery(projectsOf(useRoost()).list);
  const own = projects.kind === 'ready' ? projects.value.filter(({ agents }) => agents.includes(agentId)) : [];
  const all = own.flatMap((project) => project.columns);
  const ready = all.filter(({ kind }) => kind === READY).map(nameOf);
  // What is ticked stays to be seen when it is unticked, and when no project has it any more.
  const [seen, setSeen] = useState<readonly string[]>(columns ?? []);
  const set = [...new Set([...seen, ...(columns ?? [])])];
  const others = set.filter((said) => said !== READY && !ready.some((name) => isSame(name, said)));
  const names = ready.filter((name, at) => ready.findIndex((other) => isSame(other, name)) === at);
  const [isChoosing, setChoosing] = useState(false);
  const isTicked = (said: string) =>
    columns?.some((one) => one === said || (!isKind(said) && !isKind(one) && isSame(one, said))) ?? false;
  function tick(said: string, on: boolean): void {
    const rest = (columns ?? []).filter((one) => one !== said && (isKind(said) || isKind(one) || !isSame(one, said)));
    onColumns(on ? [...rest, said] : rest);
    setChoosing(true);
    setSeen([...new Set([...set, said])]);
  }
  const columnOf = (said: string) => all.find((column) => column.columnId === said || isSame(nameOf(column), said));
  const labelOf = (said: string) => {
    const kind = isKind(said);
    return kind ? t`Every column of the kind “${KIND_NAMES[kind]}”` : (columnOf(said)?.name ?? said);
  };
  const choice = columns === null ? 'unset' : isChoosing || columns.length > 0 ? 'some' : 'none';
  return (
    <div className="above-5 stack gap-4">
      <SelectField
        label={t`Columns it takes tasks from`}
        hint={t`Agents take tasks only from columns of the kind “${KIND_NAMES.ready}”.`}
        wrong={wrong}
        choices={[
          ['unset', labelOf(READY)],
          ['none', asBeginning(t`none`)],
          ['some', t`Only these…`],
        ]}
        value={choice}
        onChange={(value) => {
          setChoosing(value === 'some');
          setSeen(set);
          onColumns(value === 'unset' ? null : value === 'none' ? [] : set);
        }}
      />
      {choice === 'some' && (
        <fieldset className="editor-columns">
          <legend className="visually-hidden">{t`Columns it takes tasks from`}</legend>
          {[READY, ...names, ...others].map((said) => (
            <label key={said} className="tick-line">
              <input type="checkbox" checked={isTicked(said)} onChange={({ target }) => tick(said, target.checked)} />
              <span dir="auto">{labelOf(said)}</span>
              {projects.kind === 'ready' && !isKind(said) && !columnOf(said) && (
                <small>{t`no project of its agent has it`}</small>
              )}
            </label>
          ))}
        </fieldset>
      )}
    </div>
  );
}
