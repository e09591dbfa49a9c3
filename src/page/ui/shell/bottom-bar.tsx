/** The bar of places at the bottom of narrow screens. */
import type { Around } from '../commands/command.ts';
import { MoreMenu } from './header.tsx';
import { Places } from './places.tsx';

export function BottomBar({ around }: { around: Around }) {
  return (
    <div className="bottom-bar ruled middle ground-1">
      <Places route={around.route} className="bar-places" />
      <MoreMenu around={around} />
    </div>
  );
}
