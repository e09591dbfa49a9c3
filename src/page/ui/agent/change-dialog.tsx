/**
 * How somebody is called, looks and thinks: each saved as it is chosen, and taken back with one
 * press.
 */
import { useId, useState } from 'react';
import { Link } from 'wouter';
import type { Agent } from '../../../shared/domain/agent.ts';
import { AGENT_COLORS, type AgentChoice } from '../../../shared/domain/choices.ts';
import type { AgentId } from '../../../shared/domain/ids.ts';
import { checkName } from '../../../shared/domain/names.ts';
import { isSeatPosition, LEAD_COLOR, LEAD_ID, seatColor } from '../../../shared/domain/seat.ts';
import { retold } from '../../language/retold.ts';
import { t } from '../../language/t.ts';
import { useActions, useHousehold, useLive, useRoost } from '../context.tsx';
import { ModelSelect } from '../models/model-select.tsx';
import { Dialog } from '../parts/dialog.tsx';
import { PATHS } from '../routes.ts';
import { canReadAloud } from '../voice/available.ts';
import { VoiceChoice } from '../voice/voice-choice.tsx';
import { FaceEditor } from './face-editor.tsx';
import { FacePaint } from './face-paint.tsx';
import './change-dialog.css';

interface Props {
  readonly agent: Agent;
}

function useChoose({ agent }: Props) {
  const actions = useActions();
  const { notices } = useRoost();
  return async (choice: Partial<AgentChoice>, said: string) => {
    const { model } = agent;
    const before: AgentChoice = {
      model,
      color: AGENT_COLORS.some(({ color }) => color === agent.color) ? agent.color : '',
      face: agent.face === agent.birthName ? '' : agent.face,
    };
    const back = Object.fromEntries(Object.entries(before).filter(([key]) => Object.hasOwn(choice, key)));
    const done = await actions.choose(agent.agentId, choice);
    if (!done.ok) notices.error(t`This could not be saved: ${done.reason}`);
    else notices.info(said, { label: t`Undo`, run: () => void actions.choose(agent.agentId, back) });
  };
}

function Name({ agent }: Props) {
  const actions = useActions();
  const { notices } = useRoost();
  const human = useHousehold((state) => state.settings.humanName);
  const [draft, setDraft] = useState(agent.name);
  const [wrong, setWrong] = useState<string | null>(null);
  const id = useId();
  const save = async () => {
    const checked = checkName(draft, 'agent', human);
    setWrong(checked.ok ? null : retold(checked.reason));
    if (!checked.ok || checked.name === agent.name) return;
    const { name: before } = agent;
    const rename = (name: string) => actions.changeAgent(agent.agentId, [{ kind: 'rename', name }]);
    const done = await rename(checked.name);
    if (!done.ok) return setWrong(t`This could not be saved: ${done.reason}`);
    notices.info(t`${before} is called ${checked.name} now.`, { label: t`Undo`, run: () => void rename(before) });
  };
  return (
    <form
      className="change-part"
      noValidate
      onSubmit={(event) => {
        event.preventDefault();
        void save();
      }}
    >
      <label htmlFor={id}>{t`Name`}</label>
      <div className="setting-row">
        <input
          id={id}
          className="field"
          dir="auto"
          autoComplete="off"
          value={draft}
          aria-invalid={wrong !== null}
          aria-describedby={`${id}-hint`}
          onChange={({ target }) => setDraft(target.value)}
        />
        {draft.trim() !== agent.name && <button type="submit" className="solid">{t`Save`}</button>}
      </div>
      <p
        id={`${id}-hint`}
        className={wrong === null ? 'setting-hint' : 'setting-state'}
        data-wrong={wrong !== null}
        role={wrong === null ? undefined : 'alert'}
      >
        {wrong ?? t`It chose its name itself, and is told the new one the next time it wakes. Its face stays.`}
      </p>
    </form>
  );
}

function Colour({ agent }: Props) {
  const choose = useChoose({ agent });
  const name = useId();
  const own = AGENT_COLORS.some(({ color }) => color === agent.color);
  const seats = isSeatPosition(agent.position) ? seatColor(agent.position) : agent;
  const options = [
    ...(isSeatPosition(agent.position) ? [{ ...seats, colorName: t`${seats.colorName}, its seat’s`, value: '' }] : []),
    ...AGENT_COLORS.map((each) => ({ ...each, value: each.color as string })),
  ];
  return (
    <fieldset className="change-part">
      <legend>{t`Colour`}</legend>
      <div className="swatches">
        {options.map(({ value, color, colorName }) => (
          <label key={color} title={colorName} style={{ '--c': color }}>
            <input
              type="radio"
              className="visually-hidden"
              name={name}
              checked={own ? value === agent.color : value === ''}
              onChange={() => void choose({ color: value }, t`${agent.name} is ${colorName.replace(/,.*/, '')} now.`)}
            />
            <i aria-hidden="true" />
            <span className="visually-hidden">{colorName}</span>
          </label>
        ))}
      </div>
    </fieldset>
  );
}

function Thinks({ agent }: Props) {
  const choose = useChoose({ agent });
  const running = useLive((state) => state.live !== null);
  return (
    <div className="change-part">
      <ModelSelect
        label={t`Model`}
        hint={running ? t`It holds from the next session on.` : undefined}
        value={agent.model}
        standard={t`Default: the team’s`}
        onChange={(model) =>
          void choose(
            { model },
            model === '' ? t`${agent.name} thinks with the team’s model.` : t`${agent.name} has a model of its own.`,
          )
        }
      />
    </div>
  );
}

function Changes({ agent }: Props) {
  const choose = useChoose({ agent });
  const [painting, setPainting] = useState(false);
  const lead = agent.agentId === LEAD_ID;
  const take = (face: string, said = t`${agent.name} has another face.`) => {
    setPainting(false);
    void choose({ face }, said);
  };
  const style = { '--c': lead ? LEAD_COLOR.color : agent.color };
  if (painting)
    return (
      <div className="change tint" style={style}>
        <FacePaint agent={agent} onTake={take} onClose={() => setPainting(false)} />
      </div>
    );
  return (
    <div className="change tint" style={style}>
      {lead ? (
        <p className="setting-hint">{t`The lead’s name stands in ${<Link href={PATHS.settings('people', t`Lead's name`)}>{t`Settings, Names`}</Link>}, its model in ${<Link href={PATHS.settings('minds', t`Model of the lead`)}>{t`Settings, Models`}</Link>}. Its colour is gold, always.`}</p>
      ) : (
        <>
          <Name key={agent.name} agent={agent} />
          <Colour agent={agent} />
        </>
      )}
      <FaceEditor agent={agent} onTake={take} onPaint={() => setPainting(true)} />
      {!lead && <Thinks agent={agent} />}
      {canReadAloud() && <VoiceChoice agentId={agent.agentId} name={agent.name} />}
    </div>
  );
}

export default function ChangeDialog({ agentId, onClose }: { agentId: AgentId; onClose: () => void }) {
  const agent = useHousehold((state) => state.roster.byId.get(agentId));
  if (!agent) return null;
  return (
    <Dialog title={t`Change ${agent.name}`} onClose={onClose}>
      <Changes agent={agent} />
    </Dialog>
  );
}
