export type Rail = 'BRE_B' | 'PSE';
