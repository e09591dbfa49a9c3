/** Icons of the parts that the first paint does not need. */
import { Icon } from './icons.tsx';

export const SendIcon = () => (
  <Icon>
    <path d="M12 19V5M5.5 11.5L12 5l6.5 6.5" strokeWidth="2" />
  </Icon>
);
export const StopIcon = () => (
  <Icon>
    <rect x="7" y="7" width="10" height="10" rx="2" fill="currentColor" />
  </Icon>
);
export const GearIcon = () => (
  <Icon>
    <path d="M4 7h10M18 7h2M4 17h2M10 17h10" />
    <circle cx="16" cy="7" r="2" />
    <circle cx="8" cy="17" r="2" />
  </Icon>
);
export const DownIcon = () => (
  <Icon>
    <path d="M12 5v14M5.5 12.5L12 19l6.5-6.5" />
  </Icon>
);
export const ChevronIcon = () => (
  <Icon turns>
    <path d="M9 6l6 6-6 6" />
  </Icon>
);
export const RetryIcon = () => (
  <Icon>
    <path d="M19 12a7 7 0 1 1-2.2-5.1M19 4v4h-4" />
  </Icon>
);
export const EditIcon = () => (
  <Icon>
    <path d="M5 19l1-4L16 5l3 3L9 18l-4 1z" />
  </Icon>
);
export const CheckIcon = () => (
  <Icon>
    <path d="M5 12.5l4.5 4.5L19 7.5" />
  </Icon>
);
export const CopyIcon = () => (
  <Icon>
    <rect x="8.5" y="8.5" width="10.5" height="10.5" rx="2" />
    <path d="M15.5 8.5V7a2 2 0 0 0-2-2H7a2 2 0 0 0-2 2v6.5a2 2 0 0 0 2 2h1.5" />
  </Icon>
);
export const ThreadsIcon = () => (
  <Icon>
    <path d="M14.5 6.5h-8a2.5 2.5 0 0 0-2.5 2.5v8l3-2.5h7.5a2.5 2.5 0 0 0 2.5-2.5v-3a2.5 2.5 0 0 0-2.5-2.5zM8.5 6.5c.3-1.5 1.4-2.5 2.8-2.5h6.2a2.5 2.5 0 0 1 2.5 2.5v7l-3-1.5" />
  </Icon>
);
export const DevicesIcon = () => (
  <Icon>
    <path d="M4 15.500v-8.500a2 2 0 0 1 2-2h11M2.500 18.500h9" />
    <rect x="14" y="9" width="7" height="10.500" rx="1.600" />
  </Icon>
);
export const MicIcon = () => (
  <Icon>
    <rect x="9.200" y="3.500" width="5.600" height="10.500" rx="2.800" />
    <path d="M5.800 11.500a6.200 6.200 0 0 0 12.400 0M12 17.700v3" />
  </Icon>
);
export const AttachIcon = () => (
  <Icon>
    <path d="M19 11.500l-7.200 7.200a4.200 4.200 0 0 1-6-6l7.700-7.700a2.800 2.800 0 0 1 4 4l-7.400 7.400a1.400 1.400 0 0 1-2-2l6.700-6.700" />
  </Icon>
);
