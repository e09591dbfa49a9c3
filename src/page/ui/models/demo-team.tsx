import { useId, useState } from 'react';
import { t } from '../../language/t.ts';
import { demoTeam, hatchRealTeam, storeDemoTeam, storedIds } from '../../state/demo-team.ts';
import { useHousehold, usePending, useRoost } from '../context.tsx';
import { plural } from '../text/sizes.ts';
import { useQuery } from '../hooks.ts';
import './demo-team.css';
import { useAction } from '../design/use-action.ts';
import { WrongNote } from '../design/field.tsx';

/**
 * Asks what to do with the demo agents once a model is connected. Renders nothing if there are
 * none, or if they are to stay.
 */
export default function DemoTeam() {
  const roost = useRoost();
  const id = useId();
  const models = useQuery(roost.models.query);
  const roster = useHousehold((state) => state.roster);
  const calling = usePending((state) => state.call !== null);
  const [keptIds, setKeptIds] = useState(() => storedIds(roost));
  const { busy, failed, act } = useAction();
  const agents = demoTeam({ roster }).filter(({ agentId }) => !keptIds.includes(agentId));
  if (models.kind !== 'ready' || models.value.connections.length === 0 || agents.length === 0) return null;

  const hatch = () =>
    act(async () => {
      const done = await hatchRealTeam(roost, agents);
      if (done.ok)
        roost.notices.info(t`A real team hatches. The demo team stays in Settings, Devices and data for 30 days.`);
      return done;
    });
  const keep = () => {
    storeDemoTeam(roost, agents);
    setKeptIds(storedIds(roost));
  };
  return (
    <section className="demo-team gap-5 cluster ink-2 text-3 ground-2" aria-labelledby={id}>
      <p className="pretty">
        <strong id={id}>{t`${plural(agents.length, 'agent')} hatched in the demo.`}</strong>{' '}
        {t`A real team finds its own names and souls. The demo team stays in Settings, Devices and data for 30 days. Or keep them: same names, now with a real model.`}
      </p>
      <div className="demo-team-ways gap-4 flex wrap">
        <button type="button" className="solid" disabled={busy || calling} onClick={hatch}>
          {busy ? t`Working…` : t`Hatch a real team`}
        </button>
        <button type="button" className="ghost" disabled={busy} onClick={keep}>{t`Keep them`}</button>
      </div>
      <WrongNote text={failed} />
    </section>
  );
}
