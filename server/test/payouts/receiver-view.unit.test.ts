import { describe, expect, it } from 'vitest';
import { fc } from '../../../scripts/testing/property.ts';
import { maskName, maskNumber, matchDocument, matchName } from '../../src/payouts/receiver-view.ts';

describe('maskName', () => {
  it.each([
    ['JANETH SMITH PRUEBA', 'JAN*** SMI*** PRU***'],
    ['Janeth Smith', 'Jan*** Smi***'],
    ['ANA DE LA PEÑA', 'ANA*** DE*** LA*** PEÑ***'],
    ['  ANA   PENA ', 'ANA*** PEN***'],
    ['PE\u{f1}A', 'PE\u{f1}***'],
    ['PEN\u{303}A', 'PE\u{d1}***'],
    ['😀😀😀😀', '😀😀😀***'],
    ['\u{202e}ANETH', 'ANE***'],
    ['__proto__', '__p***'],
    ['', ''],
  ])('of "%s" is "%s"', (name, masked) => {
    expect(maskName(name)).toBe(masked);
  });

  it('shows at most three characters per word and hides its length', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'grapheme', maxLength: 40 }), (name) => {
        for (const word of maskName(name).split(' ').filter(Boolean)) {
          expect(word.endsWith('***')).toBe(true);
          expect(Array.from(word).length).toBeLessThanOrEqual(6);
        }
      }),
    );
    expect(maskName('MARTA')).toBe(maskName('MARTINEZ DE LEON').split(' ')[0]);
  });
});

describe('maskNumber', () => {
  it.each([
    ['1000000099', '****0099'],
    ['000900816987', '****6987'],
    ['AB123456', '****3456'],
    ['12345', '****2345'],
    ['1234', '****'],
    ['123', '****'],
    [' 1234 ', '****'],
    ['', '****'],
    ['😀😀😀😀😀', '****😀😀😀😀'],
  ])('of "%s" is "%s"', (number, masked) => {
    expect(maskNumber(number)).toBe(masked);
  });
});

describe('matchName', () => {
  it.each([
    ['JANETH SMITH PRUEBA', 'JANETH SMITH PRUEBA'],
    ['Prueba, Janeth Smith', 'JANETH SMITH PRUEBA'],
    ['josé peña', 'JOSE PENA'],
    ['Jose\u{301} Pen\u{303}a', 'JOSÉ PEÑA'],
    ["D'Ángelo", 'DANGELO'],
    ['García-Márquez Gabriel', 'GABRIEL GARCIA MARQUEZ'],
    ['RECAUDOS CAUDAL', 'RECAUDOS CAUDAL SAS'],
    ['Recaudos Caudal S.A.S.', 'RECAUDOS CAUDAL SAS'],
    ['Recaudos Caudal S. A. S. B.I.C.', 'RECAUDOS CAUDAL'],
    ['ENERGIA DEL SUR S.A. E.S.P.', 'ENERGÍA DEL SUR'],
    ['Ferretería Díaz Ltda.', 'FERRETERIA DIAZ'],
    ['SAS', 'S.A.S.'],
    ['ANA ANA', 'ANA ANA'],
    ['ANA', 'Ana'],
  ])('"%s" is a FULL match of "%s"', (asked, held) => {
    expect(matchName(asked, held)).toBe('FULL');
    expect(matchName(held, asked)).toBe('FULL');
  });

  it.each([
    ['Janeth Prueba', 'JANETH SMITH PRUEBA'],
    ['JUAN CARLOS PEREZ GOMEZ', 'JUAN PEREZ'],
    ['Gabriel García', 'GABRIEL GARCIA MARQUEZ'],
    ['MARIA DE LA CRUZ', 'MARIA CRUZ'],
    ['ANA ANA', 'ANA ANA PENA'],
  ])('"%s" is a PARTIAL match of "%s"', (asked, held) => {
    expect(matchName(asked, held)).toBe('PARTIAL');
  });

  it.each([
    ['nothing', '', 'JANETH SMITH'],
    ['punctuation', '... -', 'JANETH SMITH'],
    ['nothing against an empty name', '', ''],
    ['one word of several', 'JANETH', 'JANETH SMITH PRUEBA'],
    ['one word of two', 'JANETH ROJAS', 'JANETH SMITH'],
    ['one word repeated', 'JANETH JANETH', 'JANETH SMITH'],
    ['the only word of the name, and another', 'JANETH SMITH', 'JANETH'],
    ['prefixes of words', 'JAN SMI PRU', 'JANETH SMITH PRUEBA'],
    ['particles', 'PEDRO DE LA HOZ', 'MARIA DE LA CRUZ'],
    ['initials', 'J S P', 'J S PRUEBA'],
    ['a legal form and one word', 'RECAUDOS SAS', 'RECAUDOS CAUDAL SAS'],
    ['a legal form alone', 'SAS LTDA', 'RECAUDOS CAUDAL SAS LTDA'],
    ['Object.prototype property names', '__proto__ constructor', 'toString valueOf'],
  ])('%s is no match', (_what, asked, held) => {
    expect(matchName(asked, held)).toBe('NONE');
  });

  it('a list of common names matches nothing', () => {
    const list = 'MARIA JOSE JUAN LUIS CARLOS ANA PEREZ GOMEZ RODRIGUEZ GARCIA MARTINEZ';
    for (const held of ['JUAN PEREZ', 'ANA MARIA GOMEZ GARCIA', 'LUIS CARLOS RODRIGUEZ'])
      expect(matchName(list, held)).toBe('NONE');
  });

  it('never throws, whatever the two texts are', () => {
    const text = fc.string({ unit: 'binary' });
    fc.assert(
      fc.property(text, text, (asked, held) => {
        expect(['FULL', 'PARTIAL', 'NONE']).toContain(matchName(asked, held));
        expect(matchName(held, held)).toBe(/[\p{L}\p{N}]/u.test(held.normalize('NFKD')) ? 'FULL' : 'NONE');
      }),
      { numRuns: 1000 },
    );
  });

  it('matches by the number of shared words', () => {
    const word = fc.constantFrom('ANA', 'PENA', 'ROJAS', 'LUZ', 'DE', 'LA', 'X');
    const name = fc.array(word, { minLength: 1, maxLength: 4 });
    fc.assert(
      fc.property(name, name, (asked, held) => {
        const left = [...held];
        const shared = asked.filter((each) => left.includes(each) && left.splice(left.indexOf(each), 1));
        const significant = shared.filter((each) => each.length > 2);
        const partly = significant.length >= 2 ? 'PARTIAL' : 'NONE';
        const same = shared.length === asked.length && left.length === 0;
        expect(matchName(asked.join(' '), held.join(' '))).toBe(same ? 'FULL' : partly);
      }),
      { numRuns: 2000 },
    );
  });
});

describe('matchDocument', () => {
  const cc = (documentNumber: string) => ({ documentType: 'CC', documentNumber });
  const nit = (documentNumber: string) => ({ documentType: 'NIT', documentNumber });

  it.each([
    ['1000000099', cc('1000000099')],
    ['1.000.000.099', cc('1000000099')],
    ['ab-123456', cc('AB123456')],
    ['900000001', nit('900000001')],
    ['900000001', nit('9000000019')],
    ['900.000.001-9', nit('900000001')],
    ['900000001-9', nit('9000000019')],
  ])('%s matches %o', (asked, held) => {
    expect(matchDocument(asked, held)).toBe(true);
  });

  it.each([
    ['', cc('1000000099')],
    ['-', cc('-')],
    ['1000000098', cc('1000000099')],
    ['100000009', cc('1000000099')],
    ['10000000991', cc('1000000099')],
    ['0099', cc('1000000099')],
    ['\u{d1}123', cc('123')],
    ['90000000', nit('900000001')],
    ['90000000199', nit('900000001')],
    ['1900000001', nit('900000001')],
    ['900000001A', nit('900000001')],
    ['900000002', nit('9000000019')],
  ])('%s does not match %o', (asked, held) => {
    expect(matchDocument(asked, held)).toBe(false);
  });
});
