/** Describes what is short on the relay’s disk. */
import { t } from '../../language/t.ts';
import type { Room } from '../../../shared/protocol/http.ts';
import { bytes } from './sizes.ts';

/** Part of a household's quota from which on it is reported. */
const NEARLY_FULL = 0.9;

/** What is short, and what to do about it. */
export function shortages({ free, keepFree, part }: Room): readonly string[] {
  return [
    ...(free < keepFree
      ? [
          t`The relay’s disk has ${bytes(free)} left, so agents cannot store anything there. Your messages are still stored. Free some space on that disk, and the agents continue.`,
        ]
      : []),
    ...(part && part.bytes >= part.most * NEARLY_FULL
      ? [
          t`Your household uses ${bytes(part.bytes)} of its ${bytes(part.most)} at this relay${part.bytes >= part.most ? t`, so the relay takes no more of it` : ''}. Your devices store everything all the same. The relay’s owner can allow more (--household-gb).`,
        ]
      : []),
  ];
}
