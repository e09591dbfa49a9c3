import { useState, type ReactNode } from 'react';
import { t } from '../../language/t.ts';
import { useActions, useHousehold } from '../context.tsx';
import { ModelSelect } from '../models/model-select.tsx';

type ModelKey = 'leadModel' | 'agentModel';

/** Which model answers: saved as it is chosen, and taken back with one press. */
export function ModelSetting({
  setting,
  label,
  hint,
  standard,
}: {
  setting: ModelKey;
  label: string;
  hint: ReactNode;
  standard: string;
}) {
  const actions = useActions();
  const held = useHousehold((state) => state.settings[setting]);
  const [before, setBefore] = useState<string | null>(null);
  const [failed, setFailed] = useState<string | null>(null);
  const save = async (value: string, back: string | null) => {
    const saved = await actions.saveSetting(setting, value);
    setFailed(saved.ok ? null : saved.reason);
    setBefore(saved.ok ? back : null);
  };
  return (
    <div className="setting">
      <ModelSelect
        label={label}
        hint={hint}
        value={held}
        standard={standard}
        wrong={failed === null ? null : t`This could not be saved: ${failed}`}
        onChange={(value) => void save(value, held)}
      />
      <p className="setting-state" role="status">
        {before !== null && (
          <>
            {t`Saved.`}
            <button type="button" className="link-button" onClick={() => void save(before, null)}>{t`Undo`}</button>
          </>
        )}
      </p>
    </div>
  );
}
