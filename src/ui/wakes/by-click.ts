/** Which wakes of the feed one click of the person asked for. Pure. */
import type { WakeDecision } from '../../protocol/wakes.ts';

/** ms between two of them at most: the wakes of one call are decided one after the other, as soon as all were asked. */
const APART_MS = 5_000;

const isClick = ({ source, way }: WakeDecision) => source.kind === 'person' && way === 'person';

/** `wakes`: newest first, and so are the groups. Nobody is woken twice by one click; what nobody clicked stands alone. */
export function byClick(wakes: readonly WakeDecision[]): WakeDecision[][] {
  const groups: WakeDecision[][] = [];
  for (const wake of wakes) {
    const group = groups.at(-1);
    const later = group?.at(-1);
    if (
      group &&
      later &&
      isClick(later) &&
      isClick(wake) &&
      later.time - wake.time <= APART_MS &&
      !group.some(({ target }) => target === wake.target)
    )
      group.push(wake);
    else groups.push([wake]);
  }
  return groups;
}
