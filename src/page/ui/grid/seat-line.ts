/**
 * The second line of a tile. The visible line, the tooltip and the accessible name all show its
 * text. Pure.
 */
import type { Lifecycle } from '../../../shared/domain/lifecycle.ts';
import { t } from '../../language/t.ts';
import type { DoingNow } from '../doing-now.ts';

export interface SeatLine {
  /** An activity, or else the state of the agent. */
  readonly state:
    | DoingNow['mood']
    | 'paused'
    | 'arriving'
    | 'empty'
    | 'hatching'
    | 'waking'
    | 'awake'
    | 'driven'
    | 'asleep';
  readonly text: string;
  /** Start of an activity, in ms since the epoch; null: a state. */
  readonly from: number | null;
}

export interface SeatFacts {
  readonly doing: DoingNow | null;
  readonly lifecycle: Lifecycle;
  /** An agent lives in the seat: it wakes, and does not hatch. */
  readonly hasAgent: boolean;
  readonly paused: boolean;
  /** Its last session is still on its way to this device. */
  readonly arriving: boolean;
  /** Name of the API client that drives it. */
  readonly client: string | undefined;
  /** Since when it sleeps, as a text; null: unknown. */
  readonly slept: string | null;
}

const still = (state: SeatLine['state'], text: string): SeatLine => ({ state, text, from: null });

export function seatLine({ doing, lifecycle, hasAgent, paused, arriving, client, slept }: SeatFacts): SeatLine {
  // The words of an egg are shown in the egg. A waking agent has not answered yet.
  const isBorn = lifecycle !== 'hatching' || doing?.mood === 'asks' || doing?.mood === 'queued';
  if (doing && isBorn) return { state: doing.mood, text: doing.text, from: doing.from };
  if (paused) return still('paused', t`set to sleep`);
  if (arriving) return still('arriving', t`on its way here`);
  if (lifecycle === 'hatching' && !hasAgent && doing)
    return { state: 'hatching', text: t`finding its name`, from: doing.from };
  switch (lifecycle) {
    case 'empty':
      return still('empty', t`empty`);
    case 'hatching':
      return hasAgent ? still('waking', t`waking`) : still('hatching', t`hatching`);
    case 'awake':
      return still('awake', t`awake`);
    case 'driven':
      return still('driven', t`driven by ${client ?? t`a program`}`);
    case 'sleeping':
      return still('asleep', slept === null ? t`asleep` : t`asleep since ${slept}`);
    default:
      return lifecycle satisfies never;
  }
}
