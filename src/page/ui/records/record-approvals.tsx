/** Asks the person about restored records that would act by themselves: yes or no for each. */
import { useState } from 'react';
import { priceName } from '../../../shared/domain/prices.ts';
import { retold, t } from '../../language/t.ts';
import { type AskedRecord, pathOf } from '../../../shared/protocol/records.ts';
import type { ImportChange } from '../../state/exports.ts';
import { askedOf } from '../../state/record-approvals.ts';
import { useRoost } from '../context.tsx';
import { Diff } from '../parts/diff.tsx';
import { changeDetails, changeText, priceValue } from '../text/record-changes.ts';
import { plural } from '../text/sizes.ts';
import { revealedLine } from '../text/unseen.ts';
import { useNames } from '../use-somebody.ts';
import { useQuery } from '../hooks.ts';
import './restore-records.css';
import { useAction } from '../design/use-action.ts';

const keyOf = ({ type, id, part, hash }: AskedRecord) => JSON.stringify([type, id, part, hash]);

interface Shown {
  readonly text: string;
  readonly details: { readonly before: string; readonly after: string } | null;
}

const table = (prices: Extract<AskedRecord, { type: 'prices' }>['after']) =>
  prices.length === 0
    ? t`Roost’s own`
    : prices.map((price) => `${revealedLine(priceName(price))}: ${priceValue(price)}`).join('\n');

/** Shown like the changes of an imported copy. */
function shownOf(asked: AskedRecord, nameOf: (id: string) => string): Shown {
  const of = (change: ImportChange): Shown => ({ text: changeText(change), details: changeDetails(change) });
  const tick = '';
  switch (asked.type) {
    case 'attached-server':
      return of({ kind: 'mcp-server', tick, here: asked.here, after: asked.after });
    case 'schedule': {
      const { agentId } = asked.after.schedule;
      const shown = of({
        kind: 'schedule',
        tick,
        agentId,
        name: nameOf(agentId),
        here: asked.here,
        after: asked.after,
      });
      const projects = (asked.projects ?? []).map(({ name, toolOverrides }) =>
        toolOverrides === null ? name : t`${name} (with these tools: ${toolOverrides.join(', ')})`,
      );
      if (projects.length === 0) return shown;
      return { ...shown, text: t`${shown.text} It would work on these projects: ${projects.join(', ')}.` };
    }
    case 'project': {
      const { here, after, tasks } = asked;
      const ids = [here, after].flatMap(({ agents, reviewer }) => [...agents, reviewer ?? []].flat());
      const assignees = tasks.flatMap(({ assignee }) => assignee ?? []);
      const named = Object.fromEntries([...ids, ...assignees].map((id) => [id, nameOf(id)]));
      return of({ kind: 'project', tick, here, after, tasks, names: named });
    }
    case 'limits': {
      const { id: recordId, part, agentId, here, after } = asked;
      const name = agentId === null ? null : nameOf(agentId);
      const about = { record: 'limits', recordId, agentId, name, field: part, path: pathOf(part) } as const;
      return of({ kind: 'limit', tick, ...about, here, after });
    }
    case 'prices':
      return {
        text: t`The table of prices would be another, by which some models count as cheaper.`,
        details: { before: table(asked.here), after: table(asked.after) },
      };
    default:
      return asked satisfies never;
  }
}

function One({ shown, ticked, onTick }: { shown: Shown; ticked: boolean; onTick: (on: boolean) => void }) {
  const { text, details } = shown;
  return (
    <li>
      <label className="tick-line">
        <input type="checkbox" checked={ticked} onChange={(event) => onTick(event.target.checked)} />
        <span dir="auto">{text}</span>
      </label>
      {details && <Diff {...details} />}
    </li>
  );
}

/**
 * Shown across the page while records wait for the person's approval: each complete, with a tick of
 * its own.
 */
export default function AskedRecords() {
  const askedRecords = askedOf(useRoost());
  const state = useQuery(askedRecords.list);
  const nameOf = useNames();
  const [ticks, setTicks] = useState<ReadonlySet<string>>(new Set());
  const { busy, act } = useAction();
  const [refused, setRefused] = useState<readonly string[]>([]);
  const all = state.kind === 'ready' ? state.value : [];
  if (all.length === 0 && refused.length === 0) return null;
  const ticked = all.filter((each) => ticks.has(keyOf(each)));
  const answer = (yes: boolean) =>
    act(async () => {
      setRefused(await askedRecords.answer(ticked, yes));
      setTicks(new Set());
    });
  const tick = (key: string, on: boolean) =>
    setTicks(new Set(on ? [...ticks, key] : [...ticks].filter((held) => held !== key)));
  return (
    <section
      className="restore-records break scroll-y ruled-below pad-wide stack gap-4 ink-2 text-3 ground-1"
      aria-label={t`Waits for your yes`}
    >
      {refused.length > 0 && (
        <p role="alert">{t`Some were not taken. ${refused.map((why) => retold(why)).join(' ')}`}</p>
      )}
      {all.length > 0 && (
        <details open>
          <summary className="touchable">
            <strong>
              {plural(
                all.length,
                'thing from elsewhere waits for your yes.',
                'things from elsewhere wait for your yes.',
              )}
            </strong>
          </summary>
          <p>{t`None of it applies before. Tick only what you know.`}</p>
          <ul className="stack gap-4">
            {all.map((each) => {
              const key = keyOf(each);
              return (
                <One key={key} shown={shownOf(each, nameOf)} ticked={ticks.has(key)} onTick={(on) => tick(key, on)} />
              );
            })}
          </ul>
          <div className="gap-4 flex wrap">
            <button
              type="button"
              className="solid"
              disabled={busy || ticked.length === 0}
              onClick={() => answer(true)}
            >{t`Allow what is ticked`}</button>
            <button
              type="button"
              className="ghost"
              disabled={busy || ticked.length === 0}
              onClick={() => answer(false)}
            >{t`Leave off what is ticked`}</button>
          </div>
        </details>
      )}
    </section>
  );
}
