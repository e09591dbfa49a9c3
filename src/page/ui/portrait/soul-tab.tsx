import { useCallback, useState } from 'react';
import { displayName, type Agent } from '../../../shared/domain/agent.ts';
import { lineDiff } from '../../../shared/domain/line-diff.ts';
import { t } from '../../language/t.ts';
import { birthOf, namesOf, Soul, soulsOf, type Kept } from '../agent/soul.tsx';
import { Words } from '../chat/words.tsx';
import { useHousehold, useRoost } from '../context.tsx';
import { Diff } from '../parts/diff.tsx';
import { bytesOf } from '../../../shared/domain/platform/utf8.ts';
import { bytes, plural } from '../text/sizes.ts';
import { fullTime } from '../text/time.ts';
import { ReadingView, useReading } from './reading.tsx';

/** Earlier versions that are listed at first, and with each press. */
const LISTED = 12;

/** `3 lines new, 1 gone` */
function changeText(before: string, after: string): string {
  const lines = lineDiff(before, after);
  const count = (kind: 'new' | 'gone') => lines.filter((line) => line.kind === kind).length;
  return t`${plural(count('new'), 'line')} new, ${count('gone')} gone`;
}

/** One version of a soul: what changed with it; of the first, its words. */
function Version({ version, earlier, current }: { version: Kept; earlier: Kept | null; current: boolean }) {
  const [open, setOpen] = useState(false);
  const what = earlier === null ? t`First words` : changeText(earlier.text, version.text);
  return (
    <li>
      <details className="earlier-soul" onToggle={({ currentTarget }) => setOpen(currentTarget.open)}>
        <summary>
          <time dateTime={new Date(version.time).toISOString()}>{fullTime(version.time)}</time>
          <span>{current ? t`${what} · as it is now` : what}</span>
        </summary>
        {open && earlier !== null && <Diff before={earlier.text} after={version.text} />}
        {open && !current && (
          <>
            {earlier !== null && <h4>{t`As a whole, then`}</h4>}
            <blockquote className="soul">
              <Words text={version.text} />
            </blockquote>
          </>
        )}
      </details>
    </li>
  );
}

function Versions({ souls, name }: { souls: readonly Kept[]; name: string }) {
  const [listed, setListed] = useState(LISTED);
  if (souls.length < 2)
    return <p className="quiet">{souls.length === 0 ? t`There is none yet.` : t`${name} has not changed it since.`}</p>;
  return (
    <>
      <ol className="soul-versions">
        {souls.slice(0, listed).map((version, i) => (
          <Version key={version.key} version={version} earlier={souls[i + 1] ?? null} current={i === 0} />
        ))}
      </ol>
      {souls.length > listed && (
        <button
          type="button"
          className="ghost older"
          onClick={() => setListed(listed + LISTED)}
        >{t`Earlier versions`}</button>
      )}
    </>
  );
}

function Names({ names }: { names: readonly Kept[] }) {
  if (names.length < 2) return null;
  return (
    <section aria-label={t`Names`}>
      <h3>{t`Names`}</h3>
      <ol className="name-history">
        {names.map((name) => (
          <li key={name.key}>
            <span dir="auto">{name.text}</span> <time>{fullTime(name.time)}</time>
          </li>
        ))}
      </ol>
    </section>
  );
}

function Facts({ agent }: { agent: Agent }) {
  const roster = useHousehold((state) => state.roster);
  return (
    <section aria-label={t`About`}>
      <h3>{t`About`}</h3>
      <dl className="facts">
        <dt>{t`Name`}</dt>
        <dd dir="auto">{displayName(agent, roster)}</dd>
        <dt>{t`Colour`}</dt>
        <dd>
          <i className="swatch" aria-hidden="true" />
          {agent.colorName}
        </dd>
        {agent.position !== null && (
          <>
            <dt>{t`Seat`}</dt>
            <dd>{agent.position + 1}</dd>
          </>
        )}
        <dt>{t`Born`}</dt>
        <dd>{fullTime(agent.bornAt)}</dd>
        <dt>{t`Soul`}</dt>
        <dd>{bytes(bytesOf(agent.soul))}</dd>
      </dl>
      <details className="facts-ids">
        <summary>{t`Advanced`}</summary>
        <dl className="facts">
          <dt>{t`Id`}</dt>
          <dd>
            <code>{agent.agentId}</code>
          </dd>
          {agent.bornSessionId && (
            <>
              <dt>{t`Born in session`}</dt>
              <dd>
                <code>{agent.bornSessionId}</code>
              </dd>
            </>
          )}
        </dl>
      </details>
    </section>
  );
}

/** Who it is: its soul, how that became what it is, and what else is known of it. */
export function SoulTab({ agent }: { agent: Agent }) {
  const { owner } = useRoost();
  const { agentId, soul, name } = agent;
  const identities = useHousehold((state) => state.identities);
  // Read again when something of it changes.
  // eslint-disable-next-line react-hooks/exhaustive-deps
  const read = useCallback(() => owner.call('changes', { agentId }), [owner, agentId, soul, name]);
  const [reading, again] = useReading(read);
  const birth = birthOf(identities.values(), agentId);
  return (
    <div className="portrait-soul">
      <div>
        <Soul text={soul} name={name} folds={false} />
        <section aria-label={t`Earlier versions`}>
          <h3>{t`Earlier versions`}</h3>
          <ReadingView reading={reading} again={again} what={t`What the soul was before`}>
            {(changes) => <Versions souls={soulsOf(birth, changes)} name={name} />}
          </ReadingView>
        </section>
      </div>
      <div className="portrait-side">
        <Facts agent={agent} />
        {reading.kind === 'read' && <Names names={namesOf(birth, reading.value)} />}
      </div>
    </div>
  );
}
