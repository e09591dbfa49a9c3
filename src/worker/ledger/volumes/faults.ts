/** What is wrong with a volume, in a few words each. */
import { sentence } from '../../../shared/domain/sentence.ts';

export const unreadable = (what: string, reason: string): string => sentence`${what} cannot be read: ${reason}`;

export const openedEmpty = (expected: number): string =>
  sentence`it should hold ${expected} documents and opened empty`;

export const lacking = (there: number, expected: number): string =>
  sentence`${there} of ${expected} documents are there`;
