a matrix of the tests                                                  |forms   
             2             1             1             0
pra                        6             5            10             0
(26I3)          (40I2)                             
  1  4  6  8  8 11
 1 4 6 2 6 1 5 1 4 6
