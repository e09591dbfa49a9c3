import { useEffect, useState } from 'react';
import { spoken, t } from '../../language/t.ts';
import { useRoost } from '../context.tsx';
import { SelectSetting } from '../parts/choices.tsx';
import { chooseVoice, chosenVoice, listVoices, readAloud } from './read-aloud.ts';
import { voiceOf, voicesFor } from './words.ts';

interface Props {
  readonly agentId: string;
  readonly name: string;
}

/** Selects the system's voice for this agent on this device; nothing if there is only one. */
export function VoiceChoice({ agentId, name }: Props) {
  const state = useRoost();
  const [voices, setVoices] = useState<readonly SpeechSynthesisVoice[]>([]);
  const [chosen, setChosen] = useState(() => chosenVoice(state, agentId));
  useEffect(() => {
    let wanted = true;
    void listVoices().then((all) => {
      if (wanted) setVoices(voicesFor(all, spoken.language));
    });
    return () => {
      wanted = false;
    };
  }, []);
  if (voices.length < 2) return null;
  const own = voiceOf(agentId, { voices, language: spoken.language, chosen: null }).voice;
  return (
    <SelectSetting
      className="no-pad no-frame narrow"
      label={t`Voice`}
      chosen={chosen}
      fallback={own ? t`Default: ${own.name}` : t`Default`}
      options={voices.map(({ voiceURI, name: label }) => ({ value: voiceURI, name: label }))}
      onChoose={(voice) => {
        chooseVoice(state, agentId, voice ?? '');
        setChosen(voice);
      }}
    >
      <button
        type="button"
        className="ghost"
        onClick={() => void readAloud(state, agentId, name, t`Hello, I am ${name}.`)}
      >{t`Read aloud`}</button>
    </SelectSetting>
  );
}
