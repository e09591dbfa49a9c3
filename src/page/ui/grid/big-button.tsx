import { bigButton, type BigButton as Button } from '../../../shared/domain/lifecycle.ts';
import { t } from '../../language/t.ts';
import { callProgress } from '../../state/live.ts';
import { writingStopped } from '../../state/relay-info.ts';
import { menuItem } from '../commands/command.ts';
import { useCommands } from '../commands/later.ts';
import { useActions, useHousehold, useInfo, useLive, usePending, useRoost } from '../context.tsx';
import { CaretIcon } from '../parts/icons.tsx';
import { MenuButton, type MenuItem } from '../parts/menu.tsx';
import { useRoute } from '../routes.ts';
import './big-button.css';

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
function useMoreWays(): MenuItem[] {
  const roost = useRoost();
  const { go } = useRoute();
  // What the commands look at besides the roster and who is awake, which the button itself looks
  // at.
  useHousehold((state) => state.settingDocs);
  return (useCommands()?.wakeWays({ roost, go }) ?? []).map(menuItem);
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
  const failed = useHousehold((state) => state.status === 'failed');
  const live = useLive((state) => state.live);
  const pending = usePending((state) => state.call);
  const blocked = useInfo(writingStopped);
  const progress = useProgress();
  const more = useMoreWays();
  const button = bigButton(roster, live, pending);
  const busy = button.kind === 'busy';
  // While the ledger is still read the button takes the press: the call begins once it is read.
  const held = busy || failed || blocked;

  if (button.kind === 'none') return null;
  return (
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
      {button.kind === 'wake' && !held && (
        <MenuButton label={t`More ways to wake`} items={more} className="big-more">
          <CaretIcon />
        </MenuButton>
      )}
    </div>
  );
}
