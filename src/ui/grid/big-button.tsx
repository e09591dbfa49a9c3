import { lazy, Suspense, useState } from 'react';
import { emptySeats } from '../../domain/agent.ts';
import { bigButton, canBeWoken, lifecycleOf, type BigButton as Button } from '../../domain/lifecycle.ts';
import { t } from '../../language/t.ts';
import { callProgress } from '../../state/live.ts';
import { writingStopped } from '../../state/relay-info.ts';
import { useActions, useHousehold, useInfo, useLive, usePending } from '../context.tsx';
import { CaretIcon } from '../parts/icons.tsx';
import { MenuButton, type MenuItem } from '../parts/menu.tsx';
import { plural } from '../text/sizes.ts';
import './big-button.css';

const ChooseWho = lazy(() => import('./choose-who.tsx'));

/** What is under way, in words, for the button's line and for screen readers. */
export function useProgress(): { text: string; part: number } | null {
  const progress = useLive((state) => state);
  const step = usePending((state) => state.step);
  const call = usePending((state) => state.call);
  const now = callProgress(progress);
  if (now) {
    const word = now.call === 'summon' ? t`hatching` : t`waking`;
    if (now.total === null) return { text: t`${word}: ${now.left} to go`, part: 0 };
    return { text: t`${word} ${now.done} of ${now.total}`, part: now.done / now.total };
  }
  if (call) return { text: step ?? t`The lead calls the team…`, part: 0 };
  return null;
}

/** What the small menu beside the button offers: the ways that the big button does not take. */
function useMoreWays(choose: () => void): MenuItem[] {
  const actions = useActions();
  const roster = useHousehold((state) => state.roster);
  const live = useLive((state) => state.live);
  const busy = usePending((state) => state.call !== null);
  const sleeping = [...roster.seats].filter(([position, agent]) => canBeWoken(lifecycleOf(agent, position, live)));
  const free = emptySeats(roster).filter((position) => !live?.births.has(position));
  const items: MenuItem[] = [];
  if (sleeping.length > 0) {
    items.push({ label: t`Wake only some…`, disabled: busy, run: choose });
    if (free.length > 0)
      items.push({
        label: free.length === 1 ? t`Summon into the empty seat` : t`Summon into ${plural(free.length, 'empty seat')}`,
        hint: t`Those who sleep sleep on`,
        disabled: busy,
        run: () => void actions.summon(free),
      });
  }
  return items;
}

/** WAKE and SUMMON are called so in every language. */
function labelOf(button: Exclude<Button, { readonly kind: 'none' }>): string {
  if (button.kind === 'busy') return button.label === 'WAKING…' ? t`WAKING…` : t`SUMMONING…`;
  return button.kind === 'summon' && button.label !== 'SUMMON' ? t`SUMMON ${button.seats.length} MORE` : button.label;
}

/** The one big button, exactly as the domain says it. */
export function BigButton() {
  const actions = useActions();
  const roster = useHousehold((state) => state.roster);
  const ready = useHousehold((state) => state.status === 'ready');
  const live = useLive((state) => state.live);
  const pending = usePending((state) => state.call);
  const blocked = useInfo(writingStopped);
  const progress = useProgress();
  const [choosing, setChoosing] = useState(false);
  const more = useMoreWays(() => setChoosing(true));
  const button = bigButton(roster, live, pending);
  const busy = button.kind === 'busy';
  const held = busy || !ready || blocked;

  return (
    <>
      {button.kind !== 'none' && (
        <div className="big" data-busy={busy}>
          <button
            type="button"
            className="big-button"
            disabled={held}
            aria-disabled={held}
            style={{ '--part': progress?.part ?? 0 }}
            onClick={() => void (button.kind === 'wake' ? actions.wake() : actions.summon())}
          >
            {labelOf(button)}
          </button>
          {more.length > 0 && !held && (
            <MenuButton label={t`More ways to wake`} items={more} className="big-more">
              <CaretIcon />
            </MenuButton>
          )}
        </div>
      )}
      {choosing && (
        <Suspense fallback={null}>
          <ChooseWho onClose={() => setChoosing(false)} />
        </Suspense>
      )}
    </>
  );
}
