/** The people of the sample shop: invented names, and addresses at domains that are reserved for examples. */
import type { Said } from './happenings.ts';
import type { Random } from './random.ts';

const firstNames = [
  ...['Agnes', 'Amara', 'Anders', 'Anna', 'Aylin', 'Ben', 'Birgit', 'Bruno', 'Carla', 'Cem', 'Chiara', 'Clara', 'Daan'],
  ...['Daniel', 'David', 'Elena', 'Elias', 'Emil', 'Emma', 'Erik', 'Eva', 'Fatima', 'Felix', 'Finn', 'Frieda', 'Greta'],
  ...[
    'Hanna',
    'Hugo',
    'Ida',
    'Ines',
    'Jakob',
    'Jana',
    'Jonas',
    'Julia',
    'Karim',
    'Kenji',
    'Klara',
    'Lars',
    'Lea',
    'Leon',
  ],
  ...['Lina', 'Louis', 'Lucia', 'Luka', 'Magda', 'Malik', 'Marie', 'Marta', 'Max', 'Mei', 'Mila', 'Miriam', 'Nadia'],
  ...['Nils', 'Nina', 'Noah', 'Nora', 'Olga', 'Omar', 'Oskar', 'Paula', 'Peter', 'Petra', 'Piet', 'Priya', 'Rafael'],
  ...[
    'Rosa',
    'Ruth',
    'Sami',
    'Sara',
    'Simon',
    'Sofia',
    'Stefan',
    'Tara',
    'Theo',
    'Tomas',
    'Vera',
    'Yara',
    'Yusuf',
    'Zoe',
  ],
];
const lastNames = [
  ...['Abel', 'Adler', 'Almeida', 'Andersson', 'Bach', 'Bauer', 'Becker', 'Berg', 'Bianchi', 'Blom', 'Brandt', 'Braun'],
  ...[
    'Costa',
    'Demir',
    'Dietz',
    'Dubois',
    'Ebner',
    'Engel',
    'Farkas',
    'Fischer',
    'Fontaine',
    'Frank',
    'Garcia',
    'Graf',
  ],
  ...['Haas', 'Hansen', 'Hartmann', 'Hofer', 'Horvat', 'Huber', 'Ito', 'Jansen', 'Jensen', 'Kaiser', 'Keller', 'Klein'],
  ...[
    'Koch',
    'Kowalski',
    'Kruse',
    'Lang',
    'Larsen',
    'Lehmann',
    'Lindgren',
    'Lorenz',
    'Maier',
    'Martin',
    'Meyer',
    'Moreau',
  ],
  ...[
    'Nagy',
    'Neumann',
    'Novak',
    'Olsen',
    'Otto',
    'Patel',
    'Pereira',
    'Petit',
    'Pohl',
    'Rossi',
    'Roth',
    'Sato',
    'Schmid',
  ],
  ...['Seidel', 'Silva', 'Simon', 'Steiner', 'Stern', 'Tanaka', 'Vogel', 'Wagner', 'Walter', 'Weber', 'Winter', 'Wolf'],
];
const domains = ['example.com', 'example.org', 'example.net'] as const;
const cities = ['Berlin', 'Hamburg', 'Leipzig', 'Köln', 'Wien', 'Graz', 'Zürich', 'Basel', 'Lyon', 'Utrecht', 'Leeds'];
const teas = ['Darjeeling', 'Assam', 'Sencha', 'Jasmine', 'Rooibos', 'Mint'];

export interface Person {
  readonly contactUUID: string;
  readonly firstName: string;
  readonly lastName: string;
  readonly address: string;
}

/** Returns a function that invents people. No two have the same address. */
export const createPeople = (random: Random) => {
  const taken = new Set<string>();
  const addressOf = (firstName: string, lastName: string): string => {
    const name = `${firstName}.${lastName}`.toLowerCase().replaceAll(' ', '');
    for (let nth = 1; ; nth += 1) {
      const address = `${name}${nth === 1 ? '' : nth}@${random.pick(domains)}`;
      if (taken.has(address)) continue;
      taken.add(address);
      return address;
    }
  };
  /** A name or an address that is not given is invented. */
  return (given: Partial<Omit<Person, 'contactUUID'>> = {}): Person => {
    const { firstName = random.pick(firstNames), lastName = random.pick(lastNames) } = given;
    const { address = addressOf(firstName, lastName) } = given;
    taken.add(address);
    return { contactUUID: random.id(), firstName, lastName, address };
  };
};
export type InventPerson = ReturnType<typeof createPeople>;

/** The names of a person, as a form sends them. */
export const namesOf = ({ firstName, lastName, address }: Person): Said & { fields: NonNullable<Said['fields']> } => ({
  address,
  fields: { contactFirstname: firstName, contactLastname: lastName },
});

const telephoneOf = (random: Random): string => `+49 30 5550 ${random.between(1000, 9999)}`;

/** What a shop knows of somebody who has bought. */
export const asCustomer = (random: Random, person: Person, externalID: string): Said => {
  const { address, fields } = namesOf(person);
  return {
    address,
    externalID,
    fields: {
      ...fields,
      contactProfileID: 'customer',
      ...(random.chance(0.5) && { contactTelephone: telephoneOf(random) }),
    },
    tags: [...(random.chance(0.35) ? ['newsletter'] : []), ...(random.chance(0.08) ? ['vip'] : [])],
    attributes: [
      ['city', random.pick(cities)],
      ['points', String(random.between(1, 40) * 10)],
    ],
  };
};

/** What somebody writes into a form of a page. */
export const asReader = (random: Random, person: Person): Said => {
  const { address, fields } = namesOf(person);
  const { contactFirstname = '' } = fields;
  return {
    address,
    fields: { ...(random.chance(0.6) ? fields : { contactFirstname }), contactProfileID: 'reader' },
    tags: ['newsletter'],
    attributes: random.chance(0.3) ? [['favourite', random.pick(teas)]] : [],
  };
};

export const asMember = (random: Random, person: Person): Said => {
  const { address, fields } = namesOf(person);
  return {
    address,
    fields: { ...fields, contactProfileID: 'member' },
    attributes: [['city', random.pick(cities)]],
  };
};

export const asWholesale = (random: Random, person: Person, externalID: string): Said => {
  const { address, fields } = namesOf(person);
  return {
    address,
    externalID,
    fields: {
      ...fields,
      contactProfileID: 'wholesale',
      contactJobRole: 'Buyer',
      contactTelephone: telephoneOf(random),
    },
    tags: ['wholesale'],
    attributes: [['city', random.pick(cities)]],
  };
};
