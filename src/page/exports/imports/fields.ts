/**
 * Fields of exports, whose form nobody promises. Each is read as what it should be, or as absent.
 */
import { isRecord } from '../../../shared/domain/platform/json.ts';
import { LAST_TIME } from '../../../shared/domain/stamp.ts';

export type Fields = Readonly<Record<string, unknown>>;

export const recordOf = (value: unknown): Fields => (isRecord(value) ? value : {});
export const listOf = (value: unknown): readonly unknown[] => (Array.isArray(value) ? value : []);
export const recordsOf = (value: unknown): readonly Fields[] => listOf(value).filter(isRecord);
/** '' if there is no text. */
export const textOf = (value: unknown): string => (typeof value === 'string' ? value : '');
/** Null if there is no text, or an empty one. */
export const nameOf = (value: unknown): string | null => (typeof value === 'string' && value !== '' ? value : null);

const inRange = (time: number): number | null =>
  Number.isFinite(time) && time > 0 && time <= LAST_TIME ? Math.floor(time) : null;
/** Seconds since the epoch, with fractions, in ms. Null: no time, or an impossible one. */
export const secondsOf = (value: unknown): number | null => (typeof value === 'number' ? inRange(value * 1_000) : null);
/** A date as text, in ms since the epoch. Null: no time, or an impossible one. */
export const dateOf = (value: unknown): number | null =>
  typeof value === 'string' ? inRange(Date.parse(value)) : null;
