/** What importing would meet, in sentences. */
import type { SettingKey } from '../../domain/settings.ts';
import { seatNumber } from '../../domain/seat.ts';
import type { ArchiveConflict } from '../../state/agent-copies.ts';
import { names, plural } from './sizes.ts';
import { fullTime } from './time.ts';

const SETTINGS: Record<SettingKey, string> = {
  humanName: 'Your name',
  leadName: 'The lead’s name',
  leadModel: 'The lead’s model',
  agentModel: 'The agents’ model',
  maxAnswerTokens: 'The longest answer',
  contextTokens: 'What the models read',
  transcriptCap: 'What is remembered',
  wakeTimeoutMs: 'The time to wake',
  birthTimeoutMs: 'The time to find a name',
  idleMs: 'The quiet before everyone sleeps',
  wakeTemplate: 'The wake prompt',
};
const isSettingKey = (key: string): key is SettingKey => Object.hasOwn(SETTINGS, key);

/** Longest value that is shown whole, in characters. */
const VALUE_MAX = 40;

function valueText(key: string, value: unknown): string {
  if (value === '' || value === undefined || value === null) return 'the original';
  if (typeof value === 'number' && key.endsWith('Ms')) return value >= 60_000 ? `${value / 60_000} min` : `${value / 1000} s`;
  const text = typeof value === 'string' ? value : JSON.stringify(value);
  return text.length > VALUE_MAX ? `a text of ${plural(text.length, 'character')}` : `“${text}”`;
}

const seat = (position: number | null) => (position === null ? 'without a seat' : `in seat ${seatNumber(position)}`);

type Changes = Extract<ArchiveConflict, { kind: 'agent-changes' }>;
function changeText({ here, after }: Changes, what: Changes['what'][number]): string {
  switch (what) {
    case 'name':
      return `is called ${after.name}`;
    case 'soul':
      return `has a later soul (${plural(after.soulChars, 'character')}, now ${here.soulChars})`;
    case 'seat':
      return `sits ${seat(after.position)}`;
    case 'retired':
      return after.retired ? 'is retired' : 'is back from retirement';
    default:
      return what satisfies never;
  }
}

/** One conflict: what stands against what, and what holds afterwards. */
export function conflictText(conflict: ArchiveConflict): string {
  switch (conflict.kind) {
    case 'seat': {
      const { position, file, here, sits } = conflict;
      const [first, second] = sits === file.agentId ? [`${file.name} (in the file)`, `${here.name} (here)`] : [`${here.name} (here)`, `${file.name} (in the file)`];
      return `Seat ${seatNumber(position)} is wanted by two. ${first} was born first and sits; ${second} waits for another seat, which you give under Team.`;
    }
    case 'agent-changes':
      return `The file knows ${conflict.here.name} from a later day: afterwards ${conflict.here.name} ${names(conflict.what.map((what) => changeText(conflict, what)))}.`;
    case 'lead':
      return `There is one lead. Here it is ${conflict.here}, in the file ${conflict.file}; afterwards it is ${conflict.after}.`;
    case 'setting': {
      const { key, here, file, isDefaultHere } = conflict;
      const label = isSettingKey(key) ? SETTINGS[key] : `The setting “${key}”`;
      return `${label}: ${isDefaultHere ? 'never set here' : `here ${valueText(key, here)}`}, in the file ${valueText(key, file)}, set later. The file’s holds afterwards.`;
    }
    case 'different':
      return `${plural(conflict.documents, 'document')} ${conflict.documents === 1 ? 'is' : 'are'} here under the same id with other contents. What is here stays.`;
    case 'forget': {
      const who = conflict.name ?? 'somebody';
      return `The file asks to forget ${conflict.what === 'agent' ? who : `the conversation with ${who}`}, for good on ${fullTime(conflict.finalAt)}. Importing asks for that here too.`;
    }
    default:
      return conflict satisfies never;
  }
}
