/**
 * The payload of a wake: from the ledger's data to the prompt that each agent will read. Pure. The
 * same functions build the WAKE message and its preview. Loaded on first use, since painting the
 * page does not need it.
 */
import type { Agent, Roster } from '../../shared/domain/agent.ts';
import { bytesOf } from '../../shared/domain/platform/json.ts';
import { momentText, spanText } from '../../shared/domain/zone-days.ts';
import {
  identityText,
  insertsSoul,
  type ParsedTemplate,
  parseTemplate,
  PLACEHOLDERS,
  teammatesText,
} from '../../shared/domain/prompts.ts';
import { seatNumber } from '../../shared/domain/seat.ts';
import type { Settings } from '../../shared/domain/settings.ts';
import { isAddressed, spokenText, talkText } from '../../shared/domain/talk.ts';
import {
  IMPORTED_SESSION,
  renderTranscript,
  SUMMARY_AUTHOR,
  type TranscriptSession,
} from '../../shared/domain/transcript.ts';
import type { AgentPayload } from '../../shared/domain/wake-payload.ts';
import type { MessageDoc } from '../../shared/protocol/documents.ts';
import type { StartSession } from '../../shared/protocol/http.ts';
import { LIMITS } from '../../shared/protocol/limits.ts';
import type { WakeContext, WakeSession } from '../../shared/protocol/worker.ts';
import { runningSettingsOf } from './running-settings.ts';
import { authorName, humanNameOf, leadNameOf, speaking } from './household.ts';
import { sleepOf, type WakeShare } from './wake-sizes.ts';

/**
 * The messages from which the agent goes on: its newest summary, and what stayed beside it.
 * `count`: messages before them that the summary replaces.
 */
function fromSummary(messages: readonly MessageDoc[]): {
  readonly left: readonly MessageDoc[];
  readonly count: number;
} {
  const summary = messages.findLast(({ compaction }) => compaction !== undefined);
  if (!summary) return { left: messages, count: 0 };
  const at = messages.indexOf(summary);
  const from = messages.findIndex(({ messageId }) => messageId === summary.compaction?.from);
  const count = from < 0 || from > at ? at : from;
  return { left: [summary, ...messages.slice(count).filter((message) => message !== summary)], count };
}

/** One session as the agent rereads it: in order, without empty messages and without its soul. */
function sessionOf(session: WakeSession, agent: Agent, roster: Roster, settings: Settings): TranscriptSession {
  if (session.kind === 'greetings') {
    const { last, ...rest } = session;
    return { ...rest, words: last && spokenText(last) };
  }
  const { addressed, earlier, sessionId } = session;
  // The agent's soul was its first message at birth, before anything that was said to it. A wake
  // sends the soul separately.
  let soul = sessionId === agent.bornSessionId && agent.soul !== '' ? agent.soul : null;
  const { left, count } = fromSummary(session.messages);
  const messages = left.flatMap((message) => {
    if (isAddressed(message)) soul = null;
    const text = talkText(message, soul);
    // The relay's request to an egg is part of its birth.
    return text === '' || (soul !== null && message.author === 'relay')
      ? []
      : [
          {
            author: message.compaction ? SUMMARY_AUTHOR : authorName(message.author, roster, settings),
            time: message.time,
            text,
          },
        ];
  });
  // The summary stands for the messages that it replaces.
  const talk = { kind: 'talk', addressed, messages, earlier: count > 0 ? 0 : earlier } as const;
  return sessionId.startsWith(IMPORTED_SESSION) ? { ...talk, imported: true } : talk;
}

export function shareOf(
  agent: Agent,
  material: WakeContext | undefined,
  roster: Roster,
  settings: Settings,
): WakeShare {
  const { sessions = [], earlier = 0 } = material ?? {};
  const shown = sessions.map((session) => sessionOf(session, agent, roster, settings));
  const transcript = renderTranscript(shown, settings.transcriptCap, earlier);
  const lastSaid = shown.reduce<number | null>(
    (last, session) => (session.kind === 'greetings' ? session.until : (session.messages.at(-1)?.time ?? last)),
    null,
  );
  const last = sessions.at(-1);
  const lastSession = last?.kind === 'talk' ? last.sessionId : (last?.last?.sessionId ?? null);
  return {
    agent,
    transcript,
    soulBytes: bytesOf(agent.soul),
    transcriptBytes: bytesOf(transcript?.text ?? ''),
    lastSaid,
    lastSession,
    ended: material?.ended ?? null,
  };
}

/** What the wake prompt says about the team and the time, as of now. */
export interface WakeAround {
  readonly human: string;
  readonly lead: string;
  readonly team: readonly Agent[];
  /** ms since the epoch */
  readonly now: number;
  readonly timeZone: string;
}

export const wakeAround = (roster: Roster, settings: Settings, now: number): WakeAround => ({
  human: humanNameOf(settings),
  lead: leadNameOf(roster, settings),
  team: [...roster.seats.values()],
  now,
  timeZone: Intl.DateTimeFormat().resolvedOptions().timeZone,
});

/**
 * The soul in the system prompt and the wake prompt, as the relay will render them. Or why the
 * template is invalid.
 */
export function wakePromptOf(
  payload: AgentPayload,
  { team, now, timeZone, ...people }: WakeAround,
  templates: { readonly wake: string; readonly identity: string },
): { readonly ok: true; readonly text: string } | Extract<ParsedTemplate, { ok: false }> {
  const parsed = parseTemplate(templates.wake, PLACEHOLDERS.wake);
  if (!parsed.ok) return parsed;
  const { id, name, soul, transcript, color, colorName, position, asleepSince, sleptFrom = asleepSince } = payload;
  const slept = sleptFrom === undefined || sleptFrom > now ? null : spanText(now - sleptFrom);
  const around = { ...people, team: teammatesText(team, id), now: momentText(now, timeZone), slept };
  const identity = insertsSoul(templates.wake) ? null : identityText({ templates }, { name, soul });
  const wake = parsed.render({
    name,
    soul,
    transcript,
    color,
    colorName,
    seat: String(seatNumber(position)),
    ...around,
  });
  return { ok: true, text: identity === null ? wake : `${identity}\n\n${wake}` };
}

/**
 * The body that starts a session: the lead, and the household's settings. `language`: of the page.
 */
export function startSessionBody(
  lead: WakeShare | null,
  roster: Roster,
  settings: Settings,
  language: string,
): StartSession {
  const soul = lead?.agent.soul ?? '';
  return {
    human: { name: humanNameOf(settings).slice(0, LIMITS.name), ...speaking(language) },
    lead: {
      name: leadNameOf(roster, settings).slice(0, LIMITS.name),
      soul: soul === '' ? null : soul.slice(0, LIMITS.soul),
      transcript: lead?.transcript?.text ?? null,
      ...(lead === null ? {} : sleepOf(lead.lastSaid, lead.ended)),
    },
    settings: { ...runningSettingsOf(roster, settings), wakeTemplate: settings.wakeTemplate },
  };
}
