/** Dreams of an agent: what they propose as diffs, and what became of them. */
import { useId } from 'react';
import { type DreamChoice, isDreamOver } from '../../../shared/domain/dreams.ts';
import type { AgentId } from '../../../shared/domain/ids.ts';
import type { Dream, DreamChange } from '../../../shared/protocol/dreams.ts';
import { retold, t } from '../../language/t.ts';
import { dreamsOf } from '../../state/dreams.ts';
import { wakeQueries } from '../../state/wakes.ts';
import { withCoordination } from '../../state/relay-info.ts';
import { useRoost } from '../context.tsx';
import { useAction } from '../design/use-action.ts';
import { useNow, useQuery } from '../hooks.ts';
import { changeCoordination } from '../limits/limits.ts';
import { Diff } from '../parts/diff.tsx';
import { QueryView } from '../parts/page-head.tsx';
import { useTold } from '../settings/told.ts';
import { costText } from '../text/money.ts';
import { asBeginning, bytes, plural } from '../text/sizes.ts';
import { dayAndClock } from '../text/time.ts';
import { DREAMS } from '../text/value-names.ts';

/** What a dream would do to a file, or what became of a dream. */
function changeText({ path, pathBefore, after }: DreamChange): string {
  if (after === null) return t`${path} is removed`;
  if (pathBefore === null) return t`${path} is new`;
  return pathBefore === path ? path : t`${pathBefore} becomes ${path}`;
}

/** What has become of a dream, in a few words. */
export function dreamText({ state, changes }: Dream): string {
  switch (state) {
    case 'due':
      return t`waiting to start`;
    case 'running':
      return t`dreams now`;
    case 'submitted':
      return t`waits for the model’s server, at half the price`;
    case 'proposed':
      return plural(changes.length, 'file would change', 'files would change');
    case 'adopted':
      return t`adopted`;
    case 'discarded':
      return t`discarded`;
    case 'unchanged':
      return t`Nothing was changed.`;
    case 'failed':
      return t`failed`;
    default:
      return state satisfies never;
  }
}

/** The files that a dream would change, each as a diff. */
function Changes({ changes }: { readonly changes: readonly DreamChange[] }) {
  return (
    <ul>
      {changes.map((change) => (
        <li key={change.path}>
          <p>
            <code dir="auto">{changeText(change)}</code>
          </p>
          <Diff before={change.before ?? ''} after={change.after ?? ''} />
        </li>
      ))}
    </ul>
  );
}

/** A dream that waits for the person, with what it would change. */
function Proposed({ dream, name }: { readonly dream: Dream; readonly name: string }) {
  const dreams = dreamsOf(useRoost());
  const { busy, act } = useAction();
  const id = useId();
  const { said, changes, bytesBefore, bytesAfter, detail } = dream;
  return (
    <article className="dream pad-wide stack gap-3 round ground-2" aria-labelledby={id}>
      <h4 id={id}>{t`${name} proposes a new version of its memory`}</h4>
      {said !== null && (
        <p className="ink-2" dir="auto">
          {said}
        </p>
      )}
      <Changes changes={changes} />
      {detail !== null && <p>{retold(detail)}</p>}
      <p className="ink-3 text-2">{t`${bytes(bytesBefore)} before, ${bytes(bytesAfter)} after. It cost ${costText(dream)}.`}</p>
      <div className="to-end gap-4 cluster">
        <button type="button" className="ghost" disabled={busy} onClick={() => act(() => dreams.discard(dream))}>
          {t`Discard`}
        </button>
        <button type="button" className="solid" disabled={busy} onClick={() => act(() => dreams.adopt(dream))}>
          {t`Adopt`}
        </button>
      </div>
    </article>
  );
}

/** A dream that the model's server answers within a day. */
function Submitted({ dream }: { readonly dream: Dream }) {
  const dreams = dreamsOf(useRoost());
  const { busy, act } = useAction();
  return (
    <li className="flex apart gap-4">
      <span>
        {asBeginning(dreamText(dream))}. {t`Usually it answers within an hour, at most within a day.`}
      </span>
      <button type="button" className="ghost" disabled={busy} onClick={() => act(() => dreams.cancel(dream))}>
        {t`Cancel`}
      </button>
    </li>
  );
}

/** A dream that is over or under way, in one line. */
function DreamLine({ dream }: { readonly dream: Dream }) {
  const now = useNow();
  const { changedAt, detail, said, changes, state } = dream;
  const head = [dayAndClock(changedAt, now), dreamText(dream), ...(dream.tokens === null ? [] : [costText(dream)])];
  const note = state === 'failed' && detail !== null ? retold(detail) : (said ?? '');
  if (note === '' && changes.length === 0) return <li>{head.join(' · ')}</li>;
  return (
    <li>
      <details className="memory-file">
        <summary>{head.join(' · ')}</summary>
        {note !== '' && <p dir="auto">{note}</p>}
        <Changes changes={changes} />
      </details>
    </li>
  );
}

/** Whether the agent dreams by itself. */
function NightSelect({ agentId }: { readonly agentId: AgentId }) {
  const limits = wakeQueries(useRoost()).limits(agentId);
  const told = useTold();
  const label = t`Dreams by night`;
  const change = (value: DreamChoice | undefined) =>
    changeCoordination(limits, (own) => withCoordination(own, 'dreams', value));
  return (
    <QueryView query={limits.query}>
      {({ own, effective: { coordination } }) => (
        <label className="agent-select gap-4 cluster ink-2 text-3">
          {label}
          <select
            className="field field-select"
            value={coordination.dreams}
            onChange={({ target }) => {
              const choice = DREAMS.find(([value]) => value === target.value)?.[0];
              void told({ label, save: () => change(choice), undo: () => change(own.coordination.dreams) });
            }}
          >
            {DREAMS.map(([value, name]) => (
              <option key={value} value={value}>
                {name}
              </option>
            ))}
          </select>
        </label>
      )}
    </QueryView>
  );
}

export function DreamsSection({ agentId, name }: { readonly agentId: AgentId; readonly name: string }) {
  const dreams = dreamsOf(useRoost());
  const query = dreams.of(agentId);
  const state = useQuery(query);
  const { busy, act } = useAction();
  const isFree = state.kind === 'ready' && state.value.every((dream) => isDreamOver(dream.state));
  return (
    <section className="dreams stack gap-4" aria-label={t`Dreams`}>
      <h3 className="flex apart">
        <span>{t`Dreams`}</span>
        {isFree && (
          <button
            type="button"
            className="link-button"
            disabled={busy}
            onClick={() => act(() => dreams.start(agentId))}
          >
            {t`Dream now`}
          </button>
        )}
      </h3>
      <p className="ink-3 text-2">{t`In a dream ${name} reads the day’s messages and tidies a draft of its memory. Nothing changes before you adopt it.`}</p>
      <NightSelect agentId={agentId} />
      <QueryView query={query}>
        {(all) => (
          <>
            {all
              .filter((dream) => dream.state === 'proposed')
              .map((dream) => (
                <Proposed key={dream.dreamId} dream={dream} name={name} />
              ))}
            <ul>
              {all
                .filter((dream) => dream.state !== 'proposed')
                .map((dream) =>
                  dream.state === 'submitted' ? (
                    <Submitted key={dream.dreamId} dream={dream} />
                  ) : (
                    <DreamLine key={dream.dreamId} dream={dream} />
                  ),
                )}
            </ul>
          </>
        )}
      </QueryView>
    </section>
  );
}
