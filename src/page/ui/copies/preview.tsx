import { useState } from 'react';
import type { AgentId } from '../../../shared/domain/ids.ts';
import { shownText } from '../../../shared/domain/names.ts';
import { seatNumber } from '../../../shared/domain/seat.ts';
import { LEAD_ID } from '../../../shared/domain/seat.ts';
import { t } from '../../language/t.ts';
import type { ArchivedAgent, ArchivePreview } from '../../state/agent-copies.ts';
import { Changes } from './changes.tsx';
import { Face } from '../grid/face.tsx';
import { conflictText } from '../text/conflicts.ts';
import { kindName } from '../text/kinds.ts';
import { count, plural } from '../text/sizes.ts';
import { fullTime } from '../text/time.ts';

/** So many conflicts are in sight at once; more are folded. */
const CONFLICTS_SHOWN = 8;

function seatText(agent: ArchivedAgent): string {
  if (agent.agentId === LEAD_ID) return t`the lead`;
  if (agent.retired) return t`retired`;
  return agent.position === null ? t`without a seat` : t`seat ${seatNumber(agent.position)}`;
}

function news({ isHere, fresh, documents }: ArchivedAgent): string {
  if (!isHere) return t`new here`;
  return fresh === 0
    ? t`here already, nothing new`
    : t`here already, ${count(fresh)} of ${plural(documents, 'entry', 'entries')} new`;
}

function Person({
  agent,
  taken,
  onChange,
}: {
  agent: ArchivedAgent;
  taken: boolean;
  onChange: (taken: boolean) => void;
}) {
  return (
    <li>
      <label className="copies-person tint" style={{ '--c': agent.color }} data-taken={taken}>
        <input type="checkbox" checked={taken} onChange={(event) => onChange(event.target.checked)} />
        <span className="copies-face">
          <Face agentId={agent.agentId} face={agent.name} color={agent.color} awake={false} />
        </span>
        <span className="copies-who">
          <b dir="auto">{agent.name}</b>
          <small>
            {seatText(agent)} · {plural(agent.messages, 'message')} ·{' '}
            <span data-new={!agent.isHere || agent.fresh > 0}>{news(agent)}</span>
          </small>
        </span>
      </label>
    </li>
  );
}

function headline({ fresh, same, forgotten, documents }: ArchivePreview): string {
  if (documents === 0) return t`There is nothing in it.`;
  if (fresh === 0)
    return t`All of it is here already${forgotten > 0 ? t`, or was forgotten here` : ''}: importing it adds nothing, and harms nothing.`;
  const rest = same > 0 ? `; ${plural(same, 'is here already', 'are here already')}` : '';
  const all = plural(documents, 'entry', 'entries');
  return fresh === 1 ? t`One of ${all} is new here${rest}.` : t`${count(fresh)} of ${all} are new here${rest}.`;
}

interface Props {
  readonly fileName: string;
  readonly preview: ArchivePreview;
  readonly onTake: (choice: { withSettings: boolean; leaveOut: readonly string[]; ticks: readonly string[] }) => void;
  readonly onCancel: () => void;
}

/** What is in the file and what taking it would do; nothing is written before it is asked for. */
export function Preview({ fileName, preview, onTake, onCancel }: Props) {
  const [leaveOut, setLeaveOut] = useState<ReadonlySet<string>>(new Set());
  const [withSettings, setWithSettings] = useState(true);
  const [ticks, setTicks] = useState<ReadonlySet<string>>(new Set());
  const { exportedAt, sealed, agents, kinds, conflicts, changes, forgotten } = preview;
  const settings = kinds.find(({ type }) => type === 'setting')?.documents ?? 0;
  const unknown = kinds.filter(({ isKnown }) => !isKnown);
  const met = conflicts.filter((conflict) => {
    switch (conflict.kind) {
      case 'seat':
        return !leaveOut.has(conflict.file.agentId);
      case 'lead':
        return !leaveOut.has(LEAD_ID);
      case 'never':
      case 'unfit':
      case 'different':
        return true;
      default:
        return conflict satisfies never;
    }
  });
  // What would go with somebody who is left out, or with settings that are, is not asked for.
  const asked = changes.filter((change) =>
    change.kind === 'setting'
      ? withSettings
      : !('agentId' in change && change.agentId !== null && leaveOut.has(change.agentId)),
  );
  const nothingChosen = leaveOut.size === agents.length && agents.length > 0 && (!withSettings || settings === 0);
  const choose = (agentId: AgentId, taken: boolean) => {
    const next = new Set(leaveOut);
    if (taken) next.delete(agentId);
    else next.add(agentId);
    setLeaveOut(next);
  };
  const lines = met.map((conflict, i) => <li key={i}>{conflictText(conflict)}</li>);
  return (
    <form
      className="copies-preview"
      onSubmit={(event) => {
        event.preventDefault();
        if (!nothingChosen)
          onTake({
            withSettings,
            leaveOut: [...leaveOut],
            ticks: asked.map(({ tick }) => tick).filter((tick) => ticks.has(tick)),
          });
      }}
    >
      <div>
        <p className="copies-file">
          <b dir="auto">{shownText(fileName)}</b>{' '}
          <small>
            <span>{t`written ${fullTime(exportedAt)}`}</span>
            {sealed && <span>{t`, under a passphrase`}</span>}
          </small>
        </p>
        <p>{headline(preview)}</p>
        {forgotten > 0 && (
          <p className="setting-hint">
            {plural(
              forgotten,
              'entry of it was forgotten here for good, and is not taken.',
              'entries of it were forgotten here for good, and are not taken.',
            )}
          </p>
        )}
        {unknown.length > 0 && (
          <p className="setting-hint">
            {t`A newer Roost wrote ${plural(
              unknown.reduce((sum, { documents }) => sum + documents, 0),
              'entry',
              'entries',
            )} of kinds that this one does not know (${[...new Set(unknown.map(({ type }) => kindName(type)))].join(', ')}).`}{' '}
            {changes.some(({ kind }) => kind === 'newer')
              ? t`They come only with their tick.`
              : t`They are kept and passed on.`}
          </p>
        )}
      </div>
      {agents.length > 0 && (
        <fieldset>
          <legend>{t`Who comes`}</legend>
          <ul className="copies-people">
            {agents.map((agent) => (
              <Person
                key={agent.agentId}
                agent={agent}
                taken={!leaveOut.has(agent.agentId)}
                onChange={(taken) => choose(agent.agentId, taken)}
              />
            ))}
          </ul>
        </fieldset>
      )}
      {settings > 0 && (
        <label className="tick-line">
          <input type="checkbox" checked={withSettings} onChange={(event) => setWithSettings(event.target.checked)} />
          {t`Settings too`}
        </label>
      )}
      <Changes changes={asked} ticks={ticks} onTicks={setTicks} />
      <div className="copies-conflicts" data-some={met.length > 0}>
        <h4>
          {met.length === 0
            ? t`Nothing stands against what is here`
            : plural(met.length, 'thing stands against what is here', 'things stand against what is here')}
        </h4>
        {lines.length > 0 && <ul>{lines.slice(0, CONFLICTS_SHOWN)}</ul>}
        {lines.length > CONFLICTS_SHOWN && (
          <details>
            <summary>{plural(lines.length - CONFLICTS_SHOWN, 'more', 'more')}</summary>
            <ul>{lines.slice(CONFLICTS_SHOWN)}</ul>
          </details>
        )}
      </div>
      <div className="copies-ways">
        <button type="submit" className="solid" disabled={nothingChosen}>
          {nothingChosen ? t`Nothing chosen` : t`Import`}
        </button>
        <button type="button" className="ghost" onClick={onCancel}>{t`Cancel`}</button>
      </div>
      <p className="setting-hint">{t`Nothing that is here is changed or removed by it${asked.length > 0 ? t`, except what you tick` : ''}.`}</p>
    </form>
  );
}
