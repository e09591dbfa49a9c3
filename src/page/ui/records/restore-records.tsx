/** Offers to restore records that this household has and the relay lacks. */
import { useEffect } from 'react';
import { useStore } from 'zustand';
import type { AgentId } from '../../../shared/domain/ids.ts';
import { t } from '../../language/t.ts';
import { restoreOf, type RestoreOutcome, type Missing } from '../../state/records.ts';
import { useRoost } from '../context.tsx';
import { Progress } from '../design/progress.tsx';
import { useNames } from '../use-somebody.ts';
import { names, plural } from '../text/sizes.ts';
import { revealed, revealedCode } from '../text/unseen.ts';
import './restore-records.css';

/** The fields of a record that the relay lacks, for people. */
const fieldsOf = ({ doc }: Missing): object =>
  typeof doc['value'] === 'object' && doc['value'] !== null ? doc['value'] : {};

/** “limits and budgets, prices and 3 threads”, by the count of each type. */
function kindsOf(count: (type: string) => number): string {
  return names([
    ...(count('limits') > 0 ? [t`limits and budgets`] : []),
    ...(count('prices') > 0 ? [t`prices`] : []),
    ...(count('schedule') > 0 ? [plural(count('schedule'), 'routine or reminder', 'routines and reminders')] : []),
    ...(count('attached-server') > 0 ? [plural(count('attached-server'), 'MCP server')] : []),
    ...(count('project') > 0 ? [plural(count('project'), 'project')] : []),
    ...(count('task') > 0 ? [plural(count('task'), 'task')] : []),
    ...(count('attempt') > 0 ? [plural(count('attempt'), 'attempt')] : []),
    ...(count('routine-mapping') > 0
      ? [plural(count('routine-mapping'), 'routine on a project', 'routines on projects')]
      : []),
    ...(count('thread') > 0 ? [plural(count('thread'), 'thread')] : []),
    ...(count('thread-message') > 0 ? [plural(count('thread-message'), 'message')] : []),
  ]);
}

/** “your limits and budgets and 3 threads” */
const whatIsMissing = (missing: readonly Missing[]): string =>
  t`your ${kindsOf((type) => missing.filter(({ doc }) => doc.type === type).length)}`;

function titleOf(missing: Missing, nameOf: (agentId: AgentId) => string): string {
  const { doc } = missing;
  const value = fieldsOf(missing);
  switch (doc.type) {
    case 'limits': {
      const { agentId } = doc;
      return typeof agentId === 'string'
        ? t`${nameOf(agentId)}’s limits and budget`
        : t`The household’s limits and budget`;
    }
    case 'prices': {
      const rows = 'prices' in value && Array.isArray(value.prices) ? value.prices.length : 0;
      return rows === 0 ? t`The default prices` : t`The prices, ${plural(rows, 'row')}`;
    }
    case 'schedule': {
      const what = 'schedule' in value ? value.schedule : null;
      const name = typeof what === 'object' && what !== null && 'name' in what ? String(what.name) : '';
      return t`“${revealed(name)}”, which stays due where it is until you bring it here`;
    }
    case 'attached-server': {
      const { name, where } = { name: '', where: null, ...value };
      const shown = t`The MCP server “${revealed(String(name))}”`;
      if (where === null) return t`${shown}, removed`;
      const { url, command, args }: { url?: unknown; command?: unknown; args?: unknown } = Object(where);
      const to = typeof url === 'string' ? url : [command, ...(Array.isArray(args) ? args : [])].join(' ');
      return t`${shown}, ${revealedCode(to)}, without its secrets`;
    }
    case 'project': {
      const name = 'name' in value ? String(value.name) : '';
      return t`The project “${revealed(name)}”`;
    }
    case 'task': {
      const title = 'title' in value ? String(value.title) : '';
      return t`The task “${revealed(title)}”`;
    }
    case 'attempt':
      return t`An attempt at a task`;
    case 'routine-mapping':
      return t`A routine on a project`;
    default: {
      const title = 'title' in value && typeof value.title === 'string' ? value.title : '';
      return t`The thread “${revealed(title)}”, ${plural(missing.messages, 'message')}`;
    }
  }
}

/** One record, and what would change at the relay. */
function changeOf(missing: Missing, nameOf: (agentId: AgentId) => string): string {
  const title = titleOf(missing, nameOf);
  return missing.status === 'unknown' ? `${title}.` : t`${title}: the relay has less of it, or an older version.`;
}

/** What the relay accepted, and what it did not. */
function outcomeOf({ taken, kept, asked, refused }: RestoreOutcome): string {
  const takenKinds = kindsOf((type) => taken.get(type) ?? 0);
  const sentences = [
    ...(takenKinds === '' ? (asked > 0 ? [] : [t`The relay took nothing.`]) : [t`The relay took ${takenKinds}.`]),
    ...(asked > 0
      ? [plural(asked, 'entry waits for your yes first, below.', 'entries wait for your yes first, below.')]
      : []),
    ...(kept > 0 ? [t`It has ${plural(kept, 'entry', 'entries')} already, or newer, and keeps what it has.`] : []),
    ...(refused.length > 0 ? [t`Some were not taken. ${refused.join(' ')}`] : []),
  ];
  return sentences.join(' ');
}

/**
 * Shown across the page while the relay lacks records of this household: a preview, one step, and
 * its outcome.
 */
export default function RestoreRecords() {
  const offer = restoreOf(useRoost());
  const { missing, giving, given, error } = useStore(offer.store);
  const nameOf = useNames();
  useEffect(() => offer.watch(), [offer]);
  if (missing.length === 0 && !given && !error) return null;
  return (
    <section
      className="restore-records break scroll-y ruled-below pad-wide stack gap-4 ink-2 text-3 ground-1"
      aria-label={t`What the relay does not know`}
    >
      {giving ? (
        <Progress
          label={t`Working…`}
          {...giving}
          text={t`You can continue meanwhile. No agent is woken or notified.`}
        />
      ) : (
        <>
          {error !== null && <p role="alert">{t`Could not do this. ${error}`}</p>}
          {given && (
            <div className="gap-5 cluster">
              <p className="fill" role="status">
                {outcomeOf(given)}
              </p>
              <button type="button" className="ghost" onClick={offer.dismiss}>{t`Done`}</button>
            </div>
          )}
          {missing.length > 0 && (
            <>
              <div className="gap-5 cluster">
                <p className="fill">
                  {t`${<strong>{t`This relay does not know ${whatIsMissing(missing)}.`}</strong>} It is new, or was put back from an old copy; this household still has them.`}
                </p>
                <button type="button" className="solid" onClick={() => void offer.give()}>{t`Give them back`}</button>
              </div>
              <details>
                <summary className="touchable">{t`Details`}</summary>
                <ul className="bulleted stack gap-2">
                  {missing.map((each) => (
                    <li key={each.doc._id}>{changeOf(each, nameOf)}</li>
                  ))}
                </ul>
                <p>{t`What was set at the relay since stays as it is. What would run, be called or let agents do more asks you first.`}</p>
              </details>
            </>
          )}
        </>
      )}
    </section>
  );
}
