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
          t`The relay’s disk has ${bytes(free)} left, so agents store nothing more there; what you write is still kept. Make room on that disk, and they go on by themselves.`,
        ]
      : []),
    ...(part && part.bytes >= part.most * NEARLY_FULL
      ? [
          t`Your household keeps ${bytes(part.bytes)} of the ${bytes(part.most)} that it may at this relay${part.bytes >= part.most ? t`, so the relay takes no more of it` : ''}. Your devices keep everything all the same. Whoever runs the relay can allow more (--household-gb).`,
        ]
      : []),
  ];
}
