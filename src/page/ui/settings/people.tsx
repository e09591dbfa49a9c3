/** Settings: your name, the lead's, and the language and appearance of the page. */
import { useState } from 'react';
import { isSettingValue, type Settings } from '../../../shared/domain/settings.ts';
import { chosenLanguage, t } from '../../language/t.ts';
import { chooseLanguage, LANGUAGES } from '../../language/fetch-texts.ts';
import { useActions, useHousehold } from '../context.tsx';
import { Field, useDraft } from '../design/field.tsx';
import { SelectSetting } from '../parts/choices.tsx';
import { APPEARANCES, chooseAppearance, chosenAppearance } from '../shell/appearance.ts';
import { useTold } from './told.ts';

function NameField({ setting, label }: { setting: 'humanName' | 'leadName'; label: string }) {
  const actions = useActions();
  const told = useTold();
  const ownName = useHousehold(({ settings }) => settings[setting]);
  const save = (name: Settings[typeof setting]) => actions.saveSetting(setting, name);
  const { props, isWrong } = useDraft({
    text: ownName,
    parse(text) {
      const name = text.trim();
      return name !== '' && isSettingValue(setting, name) ? name : undefined;
    },
    onSave: (name) => told({ label, save: () => save(name), undo: () => save(ownName), atSessionStart: true }),
  });
  return (
    <Field
      label={label}
      wrong={
        isWrong ? (props.value.trim() === '' ? t`It needs a name.` : t`A name has at most ${80} characters.`) : null
      }
    >
      {(given) => (
        <div className="setting-row">
          <input {...props} {...given} className="field" dir="auto" />
        </div>
      )}
    </Field>
  );
}

/** Stored in this browser: another device may belong to someone else. */
function LanguageSetting() {
  const chosen = chosenLanguage();
  return (
    <SelectSetting
      label={t`Language`}
      chosen={chosen}
      fallback={t`As the browser`}
      options={Object.entries(LANGUAGES).map(([code, { name }]) => ({ value: code, name, lang: code }))}
      onChoose={chooseLanguage}
    />
  );
}

function AppearanceSetting() {
  const [chosen, setChosen] = useState(chosenAppearance);
  return (
    <SelectSetting
      label={t`Appearance`}
      chosen={chosen}
      fallback={t`As the system`}
      options={[
        { value: 'dark', name: t`Dark` },
        { value: 'light', name: t`Light` },
      ]}
      onChoose={(value) => {
        const next = APPEARANCES.find((each) => each === value) ?? null;
        chooseAppearance(next);
        setChosen(next);
      }}
    />
  );
}

export function People() {
  return (
    <>
      <NameField setting="humanName" label={t`Your name`} />
      <NameField setting="leadName" label={t`Lead's name`} />
      <LanguageSetting />
      <AppearanceSetting />
    </>
  );
}
