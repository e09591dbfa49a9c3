/** Shown in place of a conversation with an agent that does not exist here. */
import type { AgentId } from '../../../shared/domain/ids.ts';
import { t } from '../../language/t.ts';
import type { ForgetDoc } from '../../../shared/protocol/documents.ts';
import { useActions, useHousehold, useRoost } from '../context.tsx';
import { PATHS, useRoute } from '../routes.ts';
import { fullTime } from '../text/time.ts';

/** Shown for an agent that is being forgotten. */
function Leaving({ forget }: { forget: ForgetDoc }) {
  const { go } = useRoute();
  const actions = useActions();
  const { notices } = useRoost();
  const keep = async () => {
    const kept = await actions.keep(forget._id);
    if (!kept.ok) notices.error(t`Could not save this. ${kept.reason}`);
  };
  return (
    <div className="chat-nobody gap-4 stack at-start ink-2">
      <h2 className="ink">{t`This agent is being forgotten`}</h2>
      <p>{t`It is deleted for good on ${fullTime(forget.finalAt)}. Until then you can keep it.`}</p>
      <div className="dialog-ways">
        <button type="button" className="ghost" onClick={() => go(PATHS.hearth)}>{t`Team`}</button>
        <button type="button" className="ghost ghost-dawn" onClick={() => void keep()}>{t`Keep after all`}</button>
      </div>
    </div>
  );
}

export default function Nobody({ agentId }: { agentId: AgentId }) {
  const { go } = useRoute();
  const leaving = useHousehold((state) =>
    state.forgetting.find(({ target }) => target.kind === 'agent' && target.agentId === agentId),
  );
  if (leaving) return <Leaving forget={leaving} />;
  return (
    <div className="chat-nobody gap-4 stack at-start ink-2">
      <h2 className="ink">{t`Not found`}</h2>
      <p>{t`It was deleted, or the link was cut short.`}</p>
      <button type="button" className="ghost" onClick={() => go(PATHS.hearth)}>{t`Team`}</button>
    </div>
  );
}
