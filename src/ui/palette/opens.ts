import { createContext } from 'react';
import type { AgentId } from '../../domain/ids.ts';

/** Opens the palette on what was said with this agent. */
export const OpensFind = createContext<(within: AgentId) => void>(() => undefined);
