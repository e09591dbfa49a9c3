/**
 * What the person chose for one agent: its model, its colour, its face.
 *
 * Each choice is its own `setting` document, and the newest wins. An empty value means the default:
 * the household's model, the seat's colour, the face from birth.
 */
import type { AgentId } from './ids.ts';
import { isChosenFace } from './face.ts';
import { SETTING_TEXT_MAX } from './settings.ts';

export interface AgentChoice {
  /** Empty: the household's model. */
  readonly model: string;
  /** #rrggbb, one of `AGENT_COLORS`. Empty: the seat's colour. */
  readonly color: string;
  /** Parts or pixels in the format of `face.ts`. Empty: drawn from the name at birth. */
  readonly face: string;
}
export type ChoiceKey = keyof AgentChoice;

export const NO_CHOICE: AgentChoice = { model: '', color: '', face: '' };

/**
 * Colours that a person can choose besides the seats' colours. They are distinguishable at night
 * (dark) and at dawn (light).
 */
export const AGENT_COLORS = [
  { color: '#e86a6a', colorName: 'Poppy' },
  { color: '#f0954f', colorName: 'Tangerine' },
  { color: '#e6c34a', colorName: 'Honey' },
  { color: '#9cc65a', colorName: 'Fern' },
  { color: '#4fb286', colorName: 'Jade' },
  { color: '#4fb8c4', colorName: 'Lagoon' },
  { color: '#5a94e8', colorName: 'Cornflower' },
  { color: '#8a7be0', colorName: 'Iris' },
  { color: '#c47bd6', colorName: 'Orchid' },
  { color: '#e57fa8', colorName: 'Peony' },
  { color: '#b08968', colorName: 'Clay' },
  { color: '#9aa5b1', colorName: 'Pebble' },
] as const;

const KEYS = Object.keys(NO_CHOICE).filter((key): key is ChoiceKey => Object.hasOwn(NO_CHOICE, key));

const isValue = (key: ChoiceKey, value: string): boolean => {
  if (value === '') return true;
  switch (key) {
    case 'model':
      return value.length <= SETTING_TEXT_MAX.agentModel;
    case 'color':
      return AGENT_COLORS.some(({ color }) => color === value);
    case 'face':
      return isChosenFace(value);
  }
};

/** A choice as a setting. */
export const choiceSetting = (agentId: AgentId, key: ChoiceKey, value: string) => ({ key: `${key}:${agentId}`, value });

/**
 * Reads a choice from a setting. Null: the setting is another one, or this version cannot use its
 * value.
 */
export function choiceOf(setting: {
  readonly key: string;
  readonly value: unknown;
}): { readonly agentId: AgentId; readonly key: ChoiceKey; readonly value: string } | null {
  const at = setting.key.indexOf(':');
  const key = KEYS.find((each) => each === setting.key.slice(0, at));
  const agentId = setting.key.slice(at + 1);
  const { value } = setting;
  return key !== undefined && agentId !== '' && typeof value === 'string' && isValue(key, value)
    ? { agentId, key, value }
    : null;
}

/**
 * The agent whose colour or face this setting is. Null: it is another setting. Colour and face move
 * with their agent; the model belongs to the household.
 */
export function appearanceOf(setting: { readonly key: string; readonly value: unknown }): AgentId | null {
  const choice = choiceOf(setting);
  return choice === null || choice.key === 'model' ? null : choice.agentId;
}

/** The key of the same colour or face setting for another agent. */
export const appearanceKey = (key: string, agentId: AgentId): string => `${key.slice(0, key.indexOf(':'))}:${agentId}`;

interface ChoiceRecord {
  readonly id: string;
  readonly key: string;
  readonly value: unknown;
  readonly at: string;
}

/** Choices by agent: the newest of each by (stamp, id), in any input order. */
export function choicesOf(records: readonly ChoiceRecord[]): ReadonlyMap<string, AgentChoice> {
  const newest = new Map<string, ChoiceRecord>();
  for (const record of records) {
    if (choiceOf(record) === null) continue;
    const held = newest.get(record.key);
    if (!held || record.at > held.at || (record.at === held.at && record.id > held.id)) newest.set(record.key, record);
  }
  const choices = new Map<string, AgentChoice>();
  for (const record of newest.values()) {
    const choice = choiceOf(record);
    if (choice)
      choices.set(choice.agentId, { ...(choices.get(choice.agentId) ?? NO_CHOICE), [choice.key]: choice.value });
  }
  return choices;
}
