/** What is short on the relay’s disk, in sentences. */
import { t } from '../../language/t.ts';
import type { Room } from '../../../shared/protocol/http.ts';
import { bytes } from './sizes.ts';

/** Of what a household may keep, from this part on it is said. */
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
