/** Which wakes of the feed one click of the person asked for. Pure. */
import type { WakeDecision } from '../../../shared/protocol/wakes.ts';

/**
 * ms between two of them at most, where no call is known: of those who were only set to sleep each
 * is woken by itself, as soon as the click was made, and a relay of before wrote no calls down.
 */
const APART_MS = 5_000;

const isClick = ({ source, way }: WakeDecision) => source.kind === 'person' && way === 'person';

const areOfOne = (later: WakeDecision, wake: WakeDecision) =>
  isClick(later) &&
  isClick(wake) &&
  later.callId === wake.callId &&
  (wake.callId !== null || later.time - wake.time <= APART_MS);

/**
 * `wakes`: newest first, and so are the groups. Nobody is woken twice by one click; what nobody
 * clicked stands alone.
 */
export function byClick(wakes: readonly WakeDecision[]): WakeDecision[][] {
  const groups: WakeDecision[][] = [];
  for (const wake of wakes) {
    const group = groups.at(-1);
    const later = group?.at(-1);
    if (group && later && areOfOne(later, wake) && !group.some(({ target }) => target === wake.target))
      group.push(wake);
    else groups.push([wake]);
  }
  return groups;
}
