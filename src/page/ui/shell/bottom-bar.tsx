/** The bar of places at the bottom of narrow screens. */
import type { Around } from '../commands/command.ts';
import { MoreMenu } from './header.tsx';
import { Places } from './places.tsx';

export function BottomBar({ around }: { around: Around }) {
  return (
    <div className="bottom-bar ruled middle ground-1 flex">
      <Places route={around.route} className="bar-places stack grow narrow" />
      <MoreMenu around={around} />
    </div>
  );
}
