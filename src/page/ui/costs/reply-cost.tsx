import { useEffect } from 'react';
import { useStore } from 'zustand';
import type { MessageId } from '../../../shared/domain/ids.ts';
import { t } from '../../language/t.ts';
import { replyCostsOf } from '../../state/costs.ts';
import { useRoost } from '../context.tsx';
import { costText } from '../text/money.ts';

/** The cost of a reply, in the gap below it, so that nothing moves when it appears. */
export default function ReplyCost({ messageId }: { messageId: MessageId }) {
  const costs = replyCostsOf(useRoost());
  useEffect(() => costs.view(messageId), [costs, messageId]);
  const cost = useStore(costs.store, ({ known }) => known.get(messageId));
  const always = useStore(costs.store, (state) => state.always);
  if (!cost) return null;
  return (
    <p
      className="msg-cost text-1 nowrap figures ink-3 absolute untouchable"
      data-always={always}
      title={cost.estimated ? t`At most: its exact usage or price is unknown` : undefined}
    >
      <span className="visually-hidden">{t`Costs`} </span>
      {cost.costMicroUsd === 0 ? t`free` : costText(cost)}
    </p>
  );
}
