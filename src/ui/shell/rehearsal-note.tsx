import { Link } from 'wouter';
import { useInfo, useLive } from '../context.tsx';
import { PATHS } from '../routes.ts';

/** Is the stand-in in use? As the running session says, else as the relay does. */
export function useRehearsing(): boolean {
  const health = useInfo((state) => state.health?.mind);
  const running = useLive((state) => (state.live ? state.session?.mind.kind : undefined));
  return (running ?? health) === 'rehearsal';
}

/** Says plainly that nobody is thinking. In the header where there is room, else under the button. */
export function RehearsalNote({ where }: { where: 'header' | 'hearth' }) {
  if (!useRehearsing()) return null;
  return (
    <p className={`rehearsal rehearsal-${where}`}>
      <span>Rehearsal: nobody is thinking here</span>
      <span className="rehearsal-dot" aria-hidden="true">
        ·
      </span>
      <Link href={PATHS.connect}>Connect a model</Link>
    </p>
  );
}
