/**
 * The model of everybody, of the lead or of one agent, as a button that shows it. A choice applies
 * from the next message on.
 */
import { useId, useState } from 'react';
import { Link } from 'wouter';
import type { AgentId } from '../../../shared/domain/ids.ts';
import { LEAD_ID } from '../../../shared/domain/seat.ts';
import type { Models } from '../../../shared/protocol/models.ts';
import { t } from '../../language/t.ts';
import { useActions, useHousehold, useRoost } from '../context.tsx';
import { Dialog } from '../design/dialog.tsx';
import { OneOf } from '../design/one-of.tsx';
import { PATHS, useRoute } from '../routes.ts';
import { useSomebody } from '../use-somebody.ts';
import { choices, connectionName, modelName, stateText } from './names.ts';
import './picker.css';
import { useAction } from '../design/use-action.ts';
import { WrongNote } from '../design/field.tsx';

type Who = AgentId | 'everybody';

/** Above this many models, they can be filtered. */
const FILTERED_ABOVE = 8;

/** Whose model can be chosen: the agent of the page is last, if it is not the lead. */
function useWho(): readonly { readonly value: Who; readonly text: string }[] {
  const { route } = useRoute();
  const agentId = route.kind === 'agent' || route.kind === 'portrait' ? route.agentId : LEAD_ID;
  const lead = useSomebody(LEAD_ID);
  const agent = useSomebody(agentId);
  return [
    { value: 'everybody', text: t`Everybody` },
    { value: LEAD_ID, text: lead.kind === 'nobody' ? t`Lead` : lead.name },
    ...(agentId === LEAD_ID || agent.kind === 'nobody' || agent.kind === 'egg'
      ? []
      : [{ value: agentId, text: agent.name }]),
  ];
}

/** The model that answers for them now. null: not the same one for everybody. */
function useChosen(who: Who, [first]: Models['connections']): string | null {
  const { leadModel, agentModel } = useHousehold((state) => state.settings);
  const roster = useHousehold((state) => state.roster);
  const lead = leadModel || (first?.leadModel ?? '');
  const agents = agentModel || (first?.agentModel ?? '');
  if (who === LEAD_ID) return lead;
  if (who !== 'everybody') return roster.byId.get(who)?.model || agents;
  const own = [...roster.seats.values()].map(({ model }) => model || agents);
  return own.every((model) => model === lead) ? lead : null;
}

export default function ModelPicker({ all, onClose }: { all: Models; onClose: () => void }) {
  const actions = useActions();
  const { notices } = useRoost();
  const options = useWho();
  const [target, setTarget] = useState<Who>(options.length > 2 ? (options[2]?.value ?? 'everybody') : 'everybody');
  const [words, setWords] = useState('');
  const { failed, act } = useAction();
  const name = useId();
  const chosen = useChosen(target, all.connections);
  const count = choices(all).reduce((sum, { models }) => sum + models.length, 0);
  const query = words.toLowerCase();
  const choose = (model: string, text: string) =>
    act(async () => {
      const saved = await actions.chooseModel(target, model);
      if (!saved.ok) return saved;
      const whose = options.find(({ value }) => value === target)?.text ?? '';
      notices.info(t`${whose}: ${text} from the next message on.`);
      return onClose();
    });
  return (
    <Dialog title={t`Model`} onClose={onClose}>
      <div className="picker stack gap-6">
        <OneOf<Who> label={t`For whom`} options={options} value={target} onChange={setTarget} />
        {count > FILTERED_ABOVE && (
          <input
            className="field"
            type="search"
            aria-label={t`Find a model`}
            placeholder={t`Find a model`}
            value={words}
            autoComplete="off"
            spellCheck={false}
            onChange={(event) => setWords(event.target.value)}
          />
        )}
        {choices(all).map(({ connection, models }) => {
          const shown = models.filter(({ id, name: text }) => `${id} ${text}`.toLowerCase().includes(query));
          return (
            shown.length > 0 && (
              <fieldset className="stack" key={connection.connectionId}>
                <legend className="ink-3 text-2">
                  {connectionName(connection)} <small>{stateText(connection)}</small>
                </legend>
                {shown.map(({ id }) => (
                  <label key={id} className="picker-model touchable round-s line gap-5 break pad-2-5">
                    <input
                      type="radio"
                      name={name}
                      checked={id === chosen}
                      onChange={() => choose(id, modelName(id, models))}
                      onClick={id === chosen ? onClose : undefined}
                    />
                    <span>{modelName(id, models)}</span>
                  </label>
                ))}
              </fieldset>
            )
          );
        })}
        <WrongNote text={failed} />
        <p className="gap-4 flex wrap text-2">
          <Link href={PATHS.connect}>{t`Connect another`}</Link>
          <Link href={PATHS.settings('minds')}>{t`Models`}</Link>
        </p>
      </div>
    </Dialog>
  );
}
