import { t } from '../../language/t.ts';
import { useHousehold } from '../context.tsx';
import { plural } from '../text/sizes.ts';

/** Where a team lives here already: what becomes of two teams that meet. */
export function TwoTeams() {
  const begun = useHousehold(({ roster }) => roster.lead !== null);
  const agents = useHousehold(({ roster }) => roster.seats.size + roster.waiting.length);
  if (!begun) return null;
  return (
    <div className="devices-warning" role="note">
      <p>
        {t`${(
          <strong>
            {agents === 0
              ? t`Roost has begun here already.`
              : plural(agents, 'agent lives here already.', 'agents live here already.')}
          </strong>
        )} Joining makes one team of both, on all your devices; it cannot be taken apart again. Nobody is lost and nothing is overwritten: where two have the same seat, the one who was born first sits, and the other waits without a seat until you give one, under Team.`}
      </p>
    </div>
  );
}
