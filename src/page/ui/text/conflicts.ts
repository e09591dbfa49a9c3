/** What importing would meet, in sentences. */
import type { SettingKey } from '../../../shared/domain/settings.ts';
import { shownText } from '../../../shared/domain/names.ts';
import { seatNumber } from '../../../shared/domain/seat.ts';
import { retold } from '../../language/retold.ts';
import { t, translated } from '../../language/t.ts';
import type { ArchiveChange, ArchiveConflict } from '../../state/agent-copies.ts';
import { attachedDetails, attachedText } from './attached-changes.ts';
import { limitDetails, limitText, scheduleDetails, scheduleText } from './record-changes.ts';
import { names, plural } from './sizes.ts';
import { fullTime } from './time.ts';

const SETTINGS: Record<SettingKey, string> = {
  humanName: t`Your name`,
  leadName: t`The lead’s name`,
  leadModel: t`The lead’s model`,
  agentModel: t`The agents’ model`,
  maxAnswerTokens: t`The longest answer`,
  contextTokens: t`What the models read`,
  transcriptCap: t`What is remembered`,
  wakeTimeoutMs: t`The time to wake`,
  birthTimeoutMs: t`The time to find a name`,
  idleMs: t`The quiet before everyone sleeps`,
  wakeTemplate: t`The wake prompt`,
  runsReadTo: t`How far you have read what they did by themselves`,
  runsReadFrom: t`From when on you read that last`,
};
const isSettingKey = (key: string): key is SettingKey => Object.hasOwn(SETTINGS, key);

/** Longest value that is shown whole, in characters. */
const VALUE_MAX = 40;

function valueText(key: string, value: unknown): string {
  if (value === '' || value === undefined || value === null) return t`the original`;
  if (typeof value === 'number' && (key === 'runsReadTo' || key === 'runsReadFrom')) return fullTime(value);
  if (typeof value === 'number' && key.endsWith('Ms'))
    return value >= 60_000 ? t`${value / 60_000} min` : `${value / 1000} s`;
  const text = shownText(typeof value === 'string' ? value : JSON.stringify(value));
  return text.length > VALUE_MAX ? t`a text of ${plural(text.length, 'character')}` : t`“${text}”`;
}

const seat = (position: number | null) => (position === null ? t`without a seat` : t`in seat ${seatNumber(position)}`);

type AgentChange = Extract<ArchiveChange, { kind: 'agent' }>;
function agentChangeText({ here, after, what }: AgentChange): string {
  switch (what) {
    case 'name':
      return t`${here.name} would be called “${after.name}”.`;
    case 'soul':
      return t`${here.name} would have another soul (${plural(after.soul.length, 'character')}; now ${here.soul.length}).`;
    case 'seat':
      return t`${here.name} would sit ${seat(after.position)}; now ${seat(here.position)}.`;
    case 'retired':
      return after.retired ? t`${here.name} would be retired.` : t`${here.name} would be back from retirement.`;
    default:
      return what satisfies never;
  }
}

type ThreadChange = Extract<ArchiveChange, { kind: 'thread' }>;
function threadText({ here, after, closed, wasClosed, members, membersHere }: ThreadChange): string {
  const changes = [
    here === after ? null : t`called “${shownText(after)}”`,
    (closed !== null) === wasClosed ? null : closed === null ? t`open again` : t`closed`,
    members.join() === membersHere.join() ? null : t`with ${names(members) || t`nobody`}; now ${names(membersHere)}`,
  ].filter((change) => change !== null);
  const what = t`The thread “${shownText(here ?? after)}” would be`;
  return changes.length === 0 ? t`${what} as the file has it.` : `${what} ${changes.join(', ')}.`;
}

interface Texts {
  readonly before: string;
  readonly after: string;
}

/** What a change is about, whole, where its line does not say all of it. */
export function changeDetails(change: ArchiveChange): Texts | null {
  switch (change.kind) {
    case 'agent':
      return change.what === 'soul' ? { before: change.here.soul, after: change.after.soul } : null;
    case 'birth':
      return change.here.soul === change.after.soul ? null : { before: change.here.soul, after: change.after.soul };
    case 'setting': {
      const [before, after] = [change.here, change.file].map((value) => (typeof value === 'string' ? value : ''));
      return [before, after].some((text = '') => text.length > VALUE_MAX)
        ? { before: before ?? '', after: after ?? '' }
        : null;
    }
    case 'attached':
      return attachedDetails(change);
    case 'schedule':
      return scheduleDetails(change);
    case 'limit':
      return limitDetails(change);
    case 'thread':
      return change.closed === null || change.wasClosed ? null : { before: '', after: change.closed };
    case 'takes-seat':
    case 'forget':
    case 'keep':
    case 'edits':
    case 'thread-messages':
    case 'records':
    case 'newer':
    case 'queued':
    case 'ahead':
    case 'soul-edited':
      return null;
    default:
      return change satisfies never;
  }
}

/** One change that a file would make, and that waits for its tick. */
export function changeText(change: ArchiveChange): string {
  switch (change.kind) {
    case 'agent':
      return agentChangeText(change);
    case 'birth':
      return t`${change.here.name} would have the birth that the file tells of: called “${change.after.name}”, with a soul of ${plural(change.after.soul.length, 'character')} (now ${change.here.soul.length}).`;
    case 'takes-seat':
      return t`${change.name} was born earlier than ${change.here}, and would have seat ${seatNumber(change.position)}. Without this tick, ${change.name} does not come.`;
    case 'setting': {
      const { key, here, file, isDefaultHere } = change;
      return `${isSettingKey(key) ? SETTINGS[key] : t`The setting “${shownText(key)}”`}: ${valueText(key, file)}; ${isDefaultHere ? t`never set here` : t`here ${valueText(key, here)}`}.`;
    }
    case 'forget': {
      const who = change.name ?? t`somebody who does not live here`;
      return t`${change.what === 'agent' ? t`Everything about ${who}` : t`The conversation with ${who}`} would be forgotten, for good on ${fullTime(change.finalAt)}.`;
    }
    case 'keep':
      return t`What you asked here to be forgotten would be kept.`;
    case 'edits':
      return t`${plural(change.messages, 'message')} to ${change.name} would take the place of what was said, and what stands here after that would be out of sight.`;
    case 'attached':
      return attachedText(change);
    case 'schedule':
      return scheduleText(change);
    case 'limit':
      return limitText(change);
    case 'thread':
      return threadText(change);
    case 'thread-messages': {
      const { title, messages, yours } = change;
      return t`${plural(messages, 'message')} would come into the thread “${shownText(title)}”${yours > 0 ? t`, ${yours} of them as yours` : ''}.`;
    }
    case 'newer':
      return t`${plural(change.documents, 'entry', 'entries')} that a newer Roost wrote: what they would change shows only there.`;
    case 'records':
      return t`${retold(translated(change.what))}: ${plural(change.documents, 'entry', 'entries')} that the file has and this household does not.`;
    case 'queued':
      return t`${plural(change.messages, 'message')} would be sent as yours when everybody wakes.`;
    case 'ahead':
      return t`${plural(change.documents, 'entry', 'entries')} dated ahead of this device’s clock, up to ${fullTime(change.latest)}: the clock of another device was wrong, or this one is. They would stand after all that is here; what you write then stands after them.`;
    case 'soul-edited':
      return t`The soul would be the one in SOUL.md, as it was edited.`;
    default:
      return change satisfies never;
  }
}

export const neverText = (documents: number): string =>
  plural(
    documents,
    'entry is dated more than a hundred years ahead of this device’s clock, and not taken.',
    'entries are dated more than a hundred years ahead of this device’s clock, and not taken.',
  );

export const unfitText = (documents: number): string =>
  plural(
    documents,
    'entry says what this Roost cannot read, or what does not fit together, and is not taken.',
    'entries say what this Roost cannot read, or what does not fit together, and are not taken.',
  );

/** One conflict: what stands against what, and what holds afterwards. */
export function conflictText(conflict: ArchiveConflict): string {
  switch (conflict.kind) {
    case 'seat': {
      const { position, file, here, sits } = conflict;
      const [first, second] =
        sits === file.agentId
          ? [t`${file.name} (in the file)`, t`${here.name} (here)`]
          : [t`${here.name} (here)`, t`${file.name} (in the file)`];
      return t`Seat ${seatNumber(position)} is wanted by two. ${first} was born first and sits; ${second} waits for another seat, which you give under Team.`;
    }
    case 'lead':
      return t`There is one lead. Here it is ${conflict.here}, in the file ${conflict.file}; afterwards it is ${conflict.after}.`;
    case 'never':
      return neverText(conflict.documents);
    case 'unfit':
      return unfitText(conflict.documents);
    case 'different':
      return plural(
        conflict.documents,
        'entry is here already with other contents. What is here stays.',
        'entries are here already with other contents. What is here stays.',
      );
    default:
      return conflict satisfies never;
  }
}
