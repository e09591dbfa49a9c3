import { errorText } from '../../state/ports.ts';
import { useCallback, useEffect, useId, useState } from 'react';
import { Link } from 'wouter';
import type { AgentId } from '../../../shared/domain/ids.ts';
import { t } from '../../language/t.ts';
import type { Waking } from '../../../shared/protocol/worker.ts';
import { runSpansOf } from '../../state/spans.ts';
import { causeText, outcomeText } from '../chat/dividers.tsx';
import { useRoost } from '../context.tsx';
import { PATHS, useRoute } from '../routes.ts';
import { byDay } from '../text/by-day.ts';
import { plural } from '../text/sizes.ts';
import { clockTime, dayName } from '../text/time.ts';
import { useNames } from '../use-names.ts';
import { useNow } from '../use-now.ts';
import { ReadingView, useReading } from './reading.tsx';

/** Wakings that are read at once. */
const PAGE = 30;

/** The midnight after a day as a date field writes it, in the reader's zone; null: it is no day. */
export function endOfDay(day: string): number | null {
  const [, year, month, date] = (/^(\d{4})-(\d\d)-(\d\d)$/.exec(day) ?? []).map(Number);
  if (year === undefined || month === undefined || date === undefined) return null;
  const end = new Date(year, month - 1, date + 1).getTime();
  return end > 0 ? end : null;
}

/** A day as a date field writes it. */
const dayOf = (time: number): string => {
  const day = new Date(time);
  return [day.getFullYear(), day.getMonth() + 1, day.getDate()].map((part) => String(part).padStart(2, '0')).join('-');
};

/** When it woke, how long it talked, and what about: the way to that place of the conversation. */
function WakingLine({ agentId, waking }: { agentId: AgentId; waking: Waking }) {
  const nameOf = useNames();
  const { from, until, messages, messageId, words, run } = waking;
  const [span] = run === null ? [] : runSpansOf(run).values();
  return (
    <li>
      <Link href={PATHS.message(agentId, messageId)} className="waking">
        <time dateTime={new Date(from).toISOString()}>
          <span>{clockTime(from)}</span>
          {clockTime(until) !== clockTime(from) && <span>{` – ${clockTime(until)}`}</span>}
        </time>
        <span className="waking-words" dir="auto">
          {run !== null && (
            <b>
              <span>{span ? causeText(span.cause, nameOf) : t`at work by itself`}</span>
              {span?.end && span.end.outcome !== 'done' && <span>{` · ${outcomeText(span.end.outcome)}`}</span>}
            </b>
          )}
          {words && <span>{words.author === 'human' ? t`You: ${words.text}` : words.text}</span>}
        </span>
        <small>{plural(messages, 'message')}</small>
      </Link>
    </li>
  );
}

/** Goes to a day. */
function ToDay({ agentId, day }: { agentId: AgentId; day: string | null }) {
  const { device } = useRoost();
  const { go } = useRoute();
  const id = useId();
  return (
    <div className="to-day">
      <label htmlFor={id}>{t`Go to a day`}</label>
      <input
        id={id}
        type="date"
        className="field"
        max={dayOf(device.now())}
        value={day ?? ''}
        onChange={({ target }) => {
          if (target.value === '' || endOfDay(target.value) !== null)
            go(PATHS.portrait(agentId, 'conversations', target.value === '' ? null : target.value));
        }}
      />
      {day !== null && (
        <Link href={PATHS.portrait(agentId, 'conversations')} className="ghost">{t`To the newest`}</Link>
      )}
    </div>
  );
}

/** Of the tab: ms after a word until it is read again; words come in bursts. */
const READ_AGAIN_MS = 400;

interface Read {
  readonly wakings: readonly Waking[];
  readonly before: string | null;
}

/** What was read before stays behind the newest, as far as the two meet. */
function withNewest(known: Read, newest: Read): Read {
  const ids = new Set(newest.wakings.map(({ id }) => id));
  const rest = known.wakings.filter(({ id }) => !ids.has(id));
  return rest.length === known.wakings.length
    ? newest
    : { wakings: [...newest.wakings, ...rest], before: known.before };
}

function Wakings({ agentId, name, first, end }: { agentId: AgentId; name: string; first: Read; end: number | null }) {
  const { owner, notices } = useRoost();
  const now = useNow();
  const [{ known, newest: top }, setKnown] = useState({ known: first, newest: first });
  const [busy, setBusy] = useState(false);
  if (top !== first) setKnown({ known: withNewest(known, first), newest: first });
  const { wakings, before } = known;
  const more = async () => {
    setBusy(true);
    try {
      const page = await owner.call('wakings', { agentId, before, upTo: null, limit: PAGE });
      setKnown(({ known: held, newest }) => ({
        known: { wakings: [...held.wakings, ...page.wakings], before: page.before },
        newest,
      }));
    } catch (error) {
      notices.error(t`What was before could not be read: ${errorText(error)}`);
    } finally {
      setBusy(false);
    }
  };
  const [newest] = wakings;
  if (!newest)
    return (
      <p className="portrait-empty">
        {end === null
          ? t`Nothing was said with ${name} yet. Each time it wakes and talks stands here then, and leads to its place in the conversation.`
          : t`Nothing was said with ${name} on that day or before.`}
      </p>
    );
  return (
    <>
      {end !== null && dayName(newest.from, now) !== dayName(end - 1, now) && (
        <p className="quiet">{t`Nothing began on that day. What was before it:`}</p>
      )}
      {byDay(wakings, now, ({ from }) => from).map(({ day, items }) => (
        <section key={day} aria-label={day}>
          <h3>{day}</h3>
          <ol className="wakings">
            {items.map((waking) => (
              <WakingLine key={waking.id} agentId={agentId} waking={waking} />
            ))}
          </ol>
        </section>
      ))}
      {before !== null && (
        <button
          type="button"
          className="ghost older"
          aria-disabled={busy}
          onClick={busy ? undefined : () => void more()}
        >
          {busy ? t`Reading…` : t`Earlier conversations`}
        </button>
      )}
    </>
  );
}

/** Everything that was said with an agent, by the times at which it was awake. */
export function ConversationsTab({ agentId, name, day }: { agentId: AgentId; name: string; day: string | null }) {
  const { owner, device } = useRoost();
  const end = day === null ? null : endOfDay(day);
  const read = useCallback(
    async () => ({ first: await owner.call('wakings', { agentId, before: null, upTo: end, limit: PAGE }), end }),
    [owner, agentId, end],
  );
  const [reading, again] = useReading(read);
  // Of a day that is over nothing new is told.
  const isLive = end === null || end > device.now();
  useEffect(() => {
    if (!isLive) return undefined;
    let cancel: (() => void) | null = null;
    const stop = owner.subscribe((news) => {
      if (news.news !== 'documents' || !news.docs.some((doc) => doc['agentId'] === agentId)) return;
      cancel ??= device.after(READ_AGAIN_MS, () => {
        cancel = null;
        again();
      });
    });
    return () => {
      cancel?.();
      stop();
    };
  }, [owner, device, agentId, again, isLive]);
  return (
    <div className="portrait-talks">
      <ToDay agentId={agentId} day={end === null ? null : day} />
      <ReadingView reading={reading} again={again} what={t`What was said`}>
        {(value) => <Wakings key={value.end} agentId={agentId} name={name} {...value} />}
      </ReadingView>
    </div>
  );
}
