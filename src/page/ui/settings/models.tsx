/** Settings: the models of the lead and of the agents. */
import type { ReactNode } from 'react';
import { Link } from 'wouter';
import { LEAD_ID } from '../../../shared/domain/seat.ts';
import { t } from '../../language/t.ts';
import { useActions, useHousehold, useInfo, useRoost } from '../context.tsx';
import { useQuery } from '../hooks.ts';
import { modelName } from '../models/names.ts';
import { ConnectionNotes, ModelSelect } from '../models/model-select.tsx';
import { PATHS } from '../routes.ts';
import { useTold } from './told.ts';

type ModelKey = 'leadModel' | 'agentModel';

/** The answering model. */
function ModelSetting({
  setting,
  label,
  standard,
  standardModel,
  hint,
}: {
  setting: ModelKey;
  label: string;
  standard: string;
  standardModel: string | undefined;
  hint?: ReactNode;
}) {
  const actions = useActions();
  const told = useTold();
  const held = useHousehold((state) => state.settings[setting]);
  const save = (model: string) => actions.saveSetting(setting, model);
  return (
    <div className="setting">
      <ModelSelect
        label={label}
        hint={hint}
        value={held}
        standard={standard}
        standardModel={standardModel}
        notes={false}
        onChange={(model) => void told({ label, save: () => save(model), undo: () => save(held) })}
      />
    </div>
  );
}

export function Minds() {
  const health = useInfo((state) => state.health);
  const lead = useHousehold(({ roster }) => roster.lead);
  const { models } = useRoost();
  const listed = useQuery(models.query);
  const [first] = listed.kind === 'ready' ? listed.value.connections : [];
  const standard = (own: string | undefined) =>
    own === undefined || health?.mind === 'rehearsal' ? t`Default` : t`Default: ${modelName(own, first?.models)}`;
  return (
    <>
      <div className="settings-note under-6 ink-2 text-3">
        {first && <Link href={PATHS.connect}>{t`What is connected`}</Link>}
        {listed.kind === 'ready' && <ConnectionNotes all={listed.value} />}
      </div>
      <ModelSetting
        setting="leadModel"
        label={t`Model of the lead`}
        standard={standard(first?.leadModel)}
        standardModel={first?.leadModel}
        hint={lead ? <Link href={PATHS.continuity(LEAD_ID)}>{t`Let ${lead.name} sit an exam first`}</Link> : undefined}
      />
      <ModelSetting
        setting="agentModel"
        label={t`Model of the agents`}
        standard={standard(first?.agentModel)}
        standardModel={first?.agentModel}
      />
    </>
  );
}
