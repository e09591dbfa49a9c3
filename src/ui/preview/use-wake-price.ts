/** What it costs to wake somebody: reading what it is given, by the price of its model. What it answers comes on top. */
import { priceFor } from '../../domain/prices.ts';
import type { WakeShare } from '../../state/wake-share.ts';
import { costQueriesOf } from '../../state/costs.ts';
import { useHousehold, useRoost } from '../context.tsx';
import { useRehearsing } from '../models/chip.tsx';
import { useQuery } from '../use-query.ts';

/** Bytes of text that make about one token, and tokens of what everybody is given besides: who lives here, the tools. */
const BYTES_PER_TOKEN = 4;
const GIVEN_TO_ALL = 1_500;

export interface WakePrice {
  readonly tokens: number;
  /** Millionths of a dollar; null: the demo costs nothing, or what answers is not known. */
  readonly microUsd: number | null;
}

export function useWakePrice(): (share: WakeShare) => WakePrice {
  const roost = useRoost();
  const rehearsing = useRehearsing();
  const prices = useQuery(costQueriesOf(roost).prices);
  const models = useQuery(roost.models.query);
  const chosen = useHousehold((state) => state.settings.agentModel);
  const usual = models.kind === 'ready' ? (models.value.connections[0]?.agentModel ?? '') : '';
  return ({ agent, soulBytes, transcriptBytes }) => {
    const tokens = Math.ceil((soulBytes + transcriptBytes) / BYTES_PER_TOKEN) + GIVEN_TO_ALL;
    const model = agent.model || chosen || usual;
    const known = !rehearsing && model !== '' && prices.kind === 'ready';
    // A price is in dollars for a million tokens: millionths of a dollar for one.
    return { tokens, microUsd: known ? Math.ceil(tokens * priceFor(model, prices.value).input) : null };
  };
}
